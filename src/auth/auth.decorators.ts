import { applyDecorators } from '@nestjs/common';
import { type Scope, isScope } from './scopes.js';
import { declarationFault, decorated } from '../core/declaration-faults.js';
import { declaring } from '../core/declared-operation.js';

/** Opens a route to callers without a key. Every other route needs one. */
export function Public(): ClassDecorator & MethodDecorator {
  return declaring({ isPublic: true });
}

/**
 * Admits only keys with all these scopes, and documents 403. A scope that defineScopes() has not made stops the start, because no key
 * could have it.
 */
export function RequireScopes(...scopes: readonly Scope[]): ClassDecorator & MethodDecorator {
  const unknown = scopes.filter((scope) => !isScope(scope));
  const names = scopes.filter(isScope).map(({ name }) => name);
  const checked = (target: object, member?: string | symbol): void => {
    for (const scope of unknown)
      declarationFault(
        `${decorated(target, member)}: @RequireScopes() is given ${shown(scope)}, which is not a declared scope. ` +
          'Use a scope from defineScopes().',
      );
  };
  return applyDecorators(checked, declaring({ scopes: names }));
}

function shown(scope: unknown): string {
  const { name } = (scope ?? {}) as Partial<Scope>;
  return JSON.stringify(name ?? scope) ?? 'undefined';
}
