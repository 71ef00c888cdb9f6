import { SetMetadata, applyDecorators } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { declaredScopes } from '../accounts/scopes.js';

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
 * Lets only keys pass that hold all these scopes, and documents 403. Throws when a scope is not declared
 * with defineScopes().
 */
export function RequireScopes(...scopes: string[]): ClassDecorator & MethodDecorator {
  const known = new Set(declaredScopes().map(({ name }) => name));
  for (const scope of scopes) {
    if (!known.has(scope))
      throw new Error(`Scope "${scope}" is not declared; declare it with defineScopes().`);
  }
  return applyDecorators(SetMetadata(REQUIRED_SCOPES, scopes), ApiExtension(SCOPES_EXTENSION, scopes));
}
