import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { type Scope, declaredScopes } from '../accounts/scopes.js';

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
 * Lets only keys pass that hold all these scopes, and documents 403. Throws when one was not made by defineScopes(), because
 * no key could hold it.
 */
export function RequireScopes(...scopes: readonly Scope[]): ClassDecorator & MethodDecorator {
  const known = declaredScopes();
  const names = scopes.map((scope) => {
    if (known.includes(scope)) return scope.name;
    throw new Error(`Scope "${scope.name}" is not declared; declare it with defineScopes().`);
  });
  return applyDecorators(SetMetadata(REQUIRED_SCOPES, names), ApiExtension(SCOPES_EXTENSION, names));
}
