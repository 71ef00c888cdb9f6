import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { type Scope, isScope } from './clients/scopes.js';
import { declarationFault, decorated } from '../core/declaration-faults.js';

/** Metadata key of `@Public()`. */
export const PUBLIC_ROUTE = 'petstore:public';
/** Metadata key of `@RequireScopes()`. */
export const REQUIRED_SCOPES = 'petstore:scopes';
/** OpenAPI extension that names the scopes an operation needs. */
export const SCOPES_EXTENSION = 'x-required-scopes';

/** OpenAPI extension that marks an operation as open to callers without a key. */
export const PUBLIC_EXTENSION = 'x-public';

/** Opens a route to callers without a key. Every other route needs one. */
export function Public(): ClassDecorator & MethodDecorator {
  return applyDecorators(SetMetadata(PUBLIC_ROUTE, true), ApiExtension(PUBLIC_EXTENSION, true));
}

/**
 * Lets only keys pass that hold all these scopes, and documents 403. One that defineScopes() has not made stops the start,
 * because no key could hold it.
 */
export function RequireScopes(...scopes: readonly Scope[]): ClassDecorator & MethodDecorator {
  const unknown = scopes.filter((scope) => !isScope(scope));
  const names = scopes.filter(isScope).map(({ name }) => name);
  const checked = (target: object, member?: string | symbol): void => {
    for (const scope of unknown)
      declarationFault(
        `${decorated(target, member)}: @RequireScopes() is given ${shown(scope)}, which is no declared scope. ` +
          'Give it what defineScopes() has made.',
      );
  };
  return applyDecorators(checked, SetMetadata(REQUIRED_SCOPES, names), ApiExtension(SCOPES_EXTENSION, names));
}

function shown(scope: unknown): string {
  const { name } = (scope ?? {}) as Partial<Scope>;
  return JSON.stringify(name ?? scope) ?? 'undefined';
}
