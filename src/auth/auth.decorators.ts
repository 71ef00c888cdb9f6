import { applyDecorators } from '@nestjs/common';
import { type Scope, isScope } from './scopes.js';
import { invalidDeclaration, decorated } from '../core/declaration-errors.js';
import { declaring } from '../core/declared-operation.js';

/** Allows requests without a key. All other routes require one. */
export function Public(): ClassDecorator & MethodDecorator {
  return declaring({ isPublic: true });
}

/**
 * Requires a key with all these scopes, and documents 403. The service does not start with a scope that defineScopes() has not created,
 * because no key could have it.
 */
export function RequireScopes(...scopes: readonly Scope[]): ClassDecorator & MethodDecorator {
  const unknown = scopes.filter((scope) => !isScope(scope));
  const names = scopes.filter(isScope).map(({ name }) => name);
  const checked = (target: object, member?: string | symbol): void => {
    for (const scope of unknown)
      invalidDeclaration(
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
