import { ApiExtension } from '@nestjs/swagger';
import type { ErrorRow } from './define-errors.js';

/** OpenAPI extension that carries an operation's own error codes to the document's making; it is not published. */
export const ERRORS_EXTENSION = 'x-errors';

/**
 * Documents the errors that are an operation's own. Those of the chain (key, quota, scope, body, validation)
 * are added to every operation by themselves.
 */
export function ApiErrors(...rows: ErrorRow[]): MethodDecorator & ClassDecorator {
  return ApiExtension(
    ERRORS_EXTENSION,
    rows.map(({ code }) => code),
  );
}
