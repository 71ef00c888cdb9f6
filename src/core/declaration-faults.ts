/** An invalid declaration of a module: one line with the declaration, the problem and the remedy. It stops the start. */
export class DeclarationError extends Error {}

/** Throws DeclarationError, in decorators and `define…()`: it ends the start while modules are imported, before the database is opened. */
export function declarationFault(line: string): never {
  throw new DeclarationError(line);
}

/** A word of a name that modules declare. */
const WORD = '[a-z][a-z0-9_-]*';
/** The forms of names that modules declare. The words of all have the same characters. */
const FORMS = {
  'subject.verb': new RegExp(`^${WORD}[.]${WORD}$`),
  'feature:right': new RegExp(`^${WORD}(:${WORD})?$`),
  name: new RegExp(`^${WORD}([.]${WORD})*$`),
};
const MAX_NAME_LENGTH = 100;

/**
 * Throws DeclarationError unless the name of an event, a job, a listener or a scope has its form: words of lower-case letters, digits,
 * hyphens and underscores that begin with a letter, at most 100 characters in all. `what` names the declaration.
 */
export function checkDeclaredName(
  what: string,
  name: string,
  form: keyof typeof FORMS,
  example: string,
): void {
  if (name.length <= MAX_NAME_LENGTH && FORMS[form].test(name)) return;
  declarationFault(
    `${what} "${name}" is not of the form ${form}, such as ${example}: each word has lower-case letters, digits, ` +
      `"-" and "_" and begins with a letter, and the name has at most ${MAX_NAME_LENGTH} characters. Rename it.`,
  );
}

/** What a decorator is applied to: `PetsController.listPets`, `Toy.name`, or `PetsController` without a member. */
export function decorated(target: object, member?: string | symbol): string {
  const { name } = typeof target === 'function' ? target : target.constructor;
  return member === undefined ? name : `${name}.${String(member)}`;
}
