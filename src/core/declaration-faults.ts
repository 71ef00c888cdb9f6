/**
 * Throws DeclarationError for what is declared wrongly: one line that names what is declared, says what is wrong, and what to do.
 * Thrown by decorators and `define…()`, it ends the start while modules are imported, before the database is opened.
 */
export function declarationFault(line: string): never {
  throw new DeclarationError([line]);
}

/** What a decorator stands on: `PetsController.listPets`, `Toy.name`, or `PetsController` without a member. */
export function decorated(target: object, member?: string | symbol): string {
  const { name } = typeof target === 'function' ? target : target.constructor;
  return member === undefined ? name : `${name}.${String(member)}`;
}

/** What modules declare cannot work; `faults` has one line for each fault. */
export class DeclarationError extends Error {
  constructor(
    readonly faults: readonly string[],
    options?: ErrorOptions,
  ) {
    super(['What the modules declare cannot work:', ...faults].join('\n'), options);
  }
}
