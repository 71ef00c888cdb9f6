/** A right that a key can hold, declared by the feature that guards with it. */
export interface Scope {
  /** Such as `pets:read`. */
  readonly name: string;
  /** What it allows, for the docs. */
  readonly description: string;
  /** Whether a key gets it when none are named at issue. */
  readonly grantedByDefault: boolean;
  /** Whether the last working key that holds it can be ended only with force. */
  readonly lastKeyProtected: boolean;
}

const NAME = /^[a-z][a-z0-9-]*(:[a-z][a-z0-9-]*)?$/;
const declared = new Map<string, Scope>();

/**
 * Declares the scopes that a feature owns: name to description. Throws when a name is malformed or another
 * feature already declared it: a clash stops the start.
 */
export function defineScopes<Name extends string>(
  descriptions: Record<Name, string>,
  options: { grantedByDefault?: boolean; lastKeyProtected?: boolean } = {},
): void {
  for (const [name, description] of Object.entries<string>(descriptions)) {
    if (!NAME.test(name)) throw new Error(`Scope "${name}" is not of the form feature:right.`);
    if (declared.has(name)) throw new Error(`Scope "${name}" is declared twice.`);
    const { grantedByDefault = true, lastKeyProtected = false } = options;
    declared.set(name, { name, description, grantedByDefault, lastKeyProtected });
  }
}

/** Every scope declared so far, by name in alphabetical order. */
export function declaredScopes(): Scope[] {
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The challenge of a response that asks for a bearer credential (RFC 6750 section 3). */
export const CHALLENGE = 'Bearer realm="petstore"';

/** The challenge to a key that lacks scopes (RFC 6750 section 3.1). */
export function scopeChallenge(scopes: readonly string[]): string {
  return `${CHALLENGE}, error="insufficient_scope", scope="${scopes.join(' ')}"`;
}
