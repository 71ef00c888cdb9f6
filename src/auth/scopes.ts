import { checkDeclaredName, invalidDeclaration } from '../core/declaration-errors.js';

/** A permission of keys, declared by the feature that checks it. */
export interface Scope {
  /** Such as `pets:read`. */
  readonly name: string;
  /** Description for the docs. */
  readonly description: string;
  /** Whether a new key gets it by default, if the requester holds it. */
  readonly grantedByDefault: boolean;
  /**
   * Whether it is for operators. Self-service can neither grant it nor change keys that hold it, and invalidating the last working key with
   * it requires `force`.
   */
  readonly lastKeyProtected: boolean;
  /** Scopes that this one includes. */
  readonly includes: readonly Scope[];
}

/** Options of a scope; only administrative scopes need other values than the defaults. */
export type ScopeOptions = Partial<Pick<Scope, 'grantedByDefault' | 'includes' | 'lastKeyProtected'>>;

const declared = new Map<string, Scope>();

/**
 * Declares a feature's scopes, each with its description: `defineScopes('pets', { read: 'List animals.' }).read` is the scope `pets:read`.
 * The service does not start if a name is malformed or already declared by another feature.
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

/** Declares one scope by its full name, such as `admin`, with the same rules as defineScopes(). */
export function defineScope(name: string, description: string, options: ScopeOptions = {}): Scope {
  const { grantedByDefault = true, lastKeyProtected = false, includes = [] } = options;
  const scope = { name, description, grantedByDefault, lastKeyProtected, includes };
  checkDeclaredName('Scope', name, 'feature:right', 'pets:read');
  if (declared.has(name))
    invalidDeclaration(`Scope "${name}" is declared twice. Rename the feature or the scope.`);
  declared.set(name, scope);
  return scope;
}

/** Whether a value is a scope object of `defineScopes()` or `defineScope()`, not a name. */
export function isScope(value: unknown): value is Scope {
  return [...declared.values()].some((scope) => scope === value);
}

/** Whether these scopes contain or include a scope. */
export function isHeld(name: string, held: readonly string[]): boolean {
  return (
    held.includes(name) ||
    held.some((one) => declared.get(one)?.includes.some((included) => included.name === name))
  );
}

/** The scopes for the key of an operator, separated by commas: `admin` and the default scopes, which the key can then grant. */
export function operatorScopes(): string {
  const granted = declaredScopes().filter(({ grantedByDefault }) => grantedByDefault);
  return ['admin', ...granted.map(({ name }) => name)].join(',');
}

/** Every declared scope, in alphabetical order of name. */
export function declaredScopes(): Scope[] {
  return [...declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
