import { SetMetadata } from '@nestjs/common';

/** Metadata key of `@Remembered()`. */
export const REMEMBERED = 'petstore:remembered';

/**
 * Lets the service remember what a GET operation answers, until anything is committed to the database. Only for an
 * operation whose answer depends on the request target and the database alone: not on the caller, the time or the outside.
 * Keys, scopes, quotas, headers, logs and metrics are as without it. An answer that sets another header than `Link` and
 * `Content-Type` is not remembered, nor is anything once an added module has a global interceptor, or the operation one of
 * its own.
 */
export function Remembered(): MethodDecorator {
  return SetMetadata(REMEMBERED, true);
}
