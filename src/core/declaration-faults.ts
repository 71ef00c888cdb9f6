/** An invalid declaration of a module: one line with the declaration, the fault and the remedy. It stops the start. */
export class DeclarationError extends Error {}

/** Throws DeclarationError, in decorators and `define…()`: it ends the start while modules are imported, before the database is opened. */
export function declarationFault(line: string): never {
  throw new DeclarationError(line);
}

/** The form of the names of events and jobs, such as `pet.created`. */
export const DOTTED_NAME = /^(?=.{1,100}$)[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$/;

/** What a decorator is applied to: `PetsController.listPets`, `Toy.name`, or `PetsController` without a member. */
export function decorated(target: object, member?: string | symbol): string {
  const { name } = typeof target === 'function' ? target : target.constructor;
  return member === undefined ? name : `${name}.${String(member)}`;
}
