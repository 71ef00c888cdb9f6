import { checkDeclaredName, declarationFault } from '../core/declaration-faults.js';

/** A permission of keys, declared by the feature that checks it. */
export interface Scope {
  /** Such as `pets:read`. */
  readonly name: string;
  /** Description for the docs. */
  readonly description: string;
  /** Whether a key gets it when none are named at issue, by a requester that holds it. */
  readonly grantedByDefault: boolean;
  /** Whether it is for operators: self-service neither grants it nor changes keys that hold it, and ending the last valid one needs `force`. */
  readonly lastKeyProtected: boolean;
  /** Scopes that a key with this one has as well. */
  readonly includes: readonly Scope[];
}

/** How keys get a scope, and how they lose it; the defaults suit every scope but an administrative one. */
export type ScopeOptions = Partial<Pick<Scope, 'grantedByDefault' | 'includes' | 'lastKeyProtected'>>;

const declared = new Map<string, Scope>();

/**
 * Declares the scopes that a feature owns, right to description: `defineScopes('pets', { read: 'List animals.' }).read` is
 * the scope `pets:read`. A name that is malformed, or declared by another feature already, stops the start.
 */
export function defineScopes<Right extends string>(
  feature: string,
  rights: Record<Right, string>,
  options?: ScopeOptions,
): Readonly<Record<Right, Scope>> {
  const scopes = {} as Record<Right, Scope>;
  for (const right of Object.keys(rights) as Right[])
    scopes[right] = defineScope(`${feature}:${right}`, rights[right], options);
  return scopes;
}

/** Declares one scope by its whole name, such as `admin`; the rules of defineScopes() hold. */
export function defineScope(name: string, description: string, options: ScopeOptions = {}): Scope {
  const { grantedByDefault = true, lastKeyProtected = false, includes = [] } = options;
  const scope = { name, description, grantedByDefault, lastKeyProtected, includes };
  checkDeclaredName('Scope', name, 'feature:right', 'pets:read');
  if (declared.has(name))
    declarationFault(`Scope "${name}" is declared twice. Give the feature, or the right, another name.`);
  declared.set(name, scope);
  return scope;
}

/** Whether a value is a scope of `defineScopes()` or `defineScope()`, not its name. */
export function isScope(value: unknown): value is Scope {
  return [...declared.values()].some((scope) => scope === value);
}

/** Whether a key with these scopes has a scope: among them, or included in one of them. */
export function isHeld(name: string, held: readonly string[]): boolean {
  return (
    held.includes(name) ||
    held.some((one) => declared.get(one)?.includes.some((included) => included.name === name))
  );
}

/** Every scope declared so far, by name in alphabetical order. */
export function declaredScopes(): Scope[] {
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The challenge of a response that asks for a bearer credential (RFC 6750 section 3); the response gets the realm of API_REALM. */
export const CHALLENGE = 'Bearer realm="{realm}"';
/** The challenge to a token that was refused (RFC 6750 section 3.1). */
export const CHALLENGE_AFTER_CREDENTIAL = `${CHALLENGE}, error="invalid_token"`;

/** The challenge to a key that lacks scopes (RFC 6750 section 3.1). */
export function scopeChallenge(scopes: readonly string[]): string {
  return `${CHALLENGE}, error="insufficient_scope", scope="${scopes.join(' ')}"`;
}
