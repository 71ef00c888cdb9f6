const noted = new Set<string>();

/**
 * Notes that something is declared wrongly: one line that names what is declared, says what is wrong, and what to do. Decorators
 * and `define…()` note it in place of throwing, so that the start can refuse with all faults at once, before it opens the database.
 */
export function declarationFault(line: string): void {
  noted.add(line);
}

/** Every fault noted so far, in the order in which files were imported. */
export function declarationFaults(): string[] {
  return [...noted];
}

/** The faults that are noted while something is declared. They are forgotten after it, for suites that declare wrongly. */
export function faultsOfDeclaring(declare: () => unknown): string[] {
  const before = declarationFaults();
  noted.clear();
  try {
    declare();
    return declarationFaults();
  } finally {
    noted.clear();
    for (const line of before) noted.add(line);
  }
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

/** Throws DeclarationError when anything that was imported is declared wrongly. */
export function checkDeclared(): void {
  if (noted.size > 0) throw new DeclarationError(declarationFaults());
}
