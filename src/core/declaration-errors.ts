/** An invalid declaration in a module: one line with the declaration, the problem and the remedy. The service does not start. */
export class DeclarationError extends Error {}

/**
 * Throws DeclarationError. Called by decorators and `define…()`, it stops startup while modules are imported, before the database is
 * opened.
 */
export function invalidDeclaration(line: string): never {
  throw new DeclarationError(line);
}

/** A word of a name that modules declare. */
const WORD = '[a-z][a-z0-9_-]*';
/** The forms of declared names. Words consist of the same characters in all of them. */
const FORMS = {
  'subject.verb': new RegExp(`^${WORD}[.]${WORD}$`),
  'feature:right': new RegExp(`^${WORD}(:${WORD})?$`),
  name: new RegExp(`^${WORD}([.]${WORD})*$`),
};
const MAX_NAME_LENGTH = 100;

/**
 * Throws DeclarationError unless the name of an event, job, listener or scope has the required form: words of lower-case letters, digits,
 * hyphens and underscores that start with a letter, at most 100 characters in total. `what` is the kind of declaration.
 */
export function checkDeclaredName(
  what: string,
  name: string,
  form: keyof typeof FORMS,
  example: string,
): void {
  if (name.length <= MAX_NAME_LENGTH && FORMS[form].test(name)) return;
  invalidDeclaration(
    `${what} "${name}" is not of the form ${form}, such as ${example}: each word has lower-case letters, digits, ` +
      `"-" and "_" and begins with a letter, and the name has at most ${MAX_NAME_LENGTH} characters. Rename it.`,
  );
}

/** The target of a decorator: `PetsController.listPets`, `Toy.name`, or, without a member, `PetsController`. */
export function decorated(target: object, member?: string | symbol): string {
  const { name } = typeof target === 'function' ? target : target.constructor;
  return member === undefined ? name : `${name}.${String(member)}`;
}
