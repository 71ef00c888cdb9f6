import type { Type } from '@nestjs/common';
import type { ErrorRow } from './errors/define-errors.js';
import { HandlerMetadata } from './execution-context.js';

/** The success response of an operation. */
export interface DeclaredResponse {
  /** The DTO with the properties of the response, or of each element of its array; undefined if the response is not JSON. */
  readonly dto?: Type | undefined;
  /** Name of the response's array in the OpenAPI document. */
  readonly schemaName?: string | undefined;
  /** The path of the returned resource, without the prefix of a proxy. */
  readonly location?: ((resource: never) => string) | undefined;
  /** Whether the response has the entity tag that GET returns for the same state. */
  readonly hasEntityTag?: boolean;
}

/** When an operation was deprecated, when it will be removed, and where its replacement is documented. */
export interface Deprecation {
  /** Deprecation time, in ms since the Unix epoch (RFC 9745 `Deprecation`). */
  readonly since: number;
  /** Time from which it responds with 410, in ms since the Unix epoch (RFC 8594 `Sunset`). */
  readonly sunset: number;
  /** The operation to call instead, such as `GET /v1/pets?status=available`; part of the description and of the 410. */
  readonly replacement: string;
  /** URL of the page that names the replacement (`Link` with rel `deprecation`). */
  readonly link: string;
}

/** The rate limit of uncounted operations. */
export interface OperationLimit {
  /** Name of the window in `RateLimit-Policy`; operations with the same name are counted together. */
  readonly name: string;
  /** Requests per UTC minute. */
  readonly perMinute: number;
  /** Whether the limit applies to each client, with all its keys, or to each key. */
  readonly per: 'client' | 'key';
  /** With a limit per key, requests per UTC minute of all keys of a client together; by default unlimited. */
  readonly perClient?: number;
  /** What the operations do, for the error message: `for reading the account`. */
  readonly what: string;
  /** Whether banned keys are refused, because the operation would create a new key; by default, they are admitted. */
  readonly refusesBanned?: boolean;
}

/** The metadata that the platform's decorators declare for an operation: on its handler or, for all handlers, on a controller. */
export interface DeclaredOperation {
  /** Its id, such as `listPets`, with its response, class and method; undefined without `@Operation()`. */
  readonly id?: string;
  readonly response?: DeclaredResponse;
  /** The class that declares the handler: the controller or a parent class. */
  readonly controller?: Type;
  /** The handler's name in that class. */
  readonly method?: string;
  readonly tagDescription?: string;
  /** The errors in `@ApiErrors()` of the handler and the controller. */
  readonly errors?: readonly ErrorRow[];
  readonly isPublic?: boolean;
  /** All scopes that a key needs; undefined without `@RequireScopes()`, empty if it has no arguments. */
  readonly scopes?: readonly string[] | undefined;
  readonly operationLimit?: OperationLimit;
  readonly deprecation?: Deprecation;
  readonly isCached?: boolean;
  readonly isIdempotent?: boolean;
  /** Whether requests require an `If-Match`; undefined without `@IfMatch()`. */
  readonly ifMatch?: 'required' | 'optional';
  /** Maximum size of the decoded body, in bytes; undefined for BODY_LIMIT_BYTES. */
  readonly bodyLimitBytes?: number | undefined;
  readonly isServedUnderOverload?: boolean;
}

/** The metadata key of all these decorators. Nest copies its value to the function that it registers. */
const DECLARED = 'petstore:operation';

/** Adds to the declarations of a handler or a controller. A controller inherits those of its parent class. */
export function declareOperation(target: object, more: DeclaredOperation): void {
  Reflect.defineMetadata(DECLARED, { ...declaredOn(target), ...more }, target);
}

/** A decorator that adds declarations to a handler or controller. */
export function declaring(more: DeclaredOperation): ClassDecorator & MethodDecorator {
  return (target: object, _member?: string | symbol, descriptor?: PropertyDescriptor): void =>
    declareOperation((descriptor?.value as object | undefined) ?? target, more);
}

/** The declarations of a controller, a handler, or the function that Nest registers for it. */
export function declaredOn(target: object): DeclaredOperation {
  return (Reflect.getMetadata(DECLARED, target) ?? {}) as DeclaredOperation;
}

/** The declarations of a handler and its controller: the handler's take precedence; errors and scopes are combined. */
export const DECLARATIONS = new HandlerMetadata<DeclaredOperation>(([handler, controller]) => {
  const [own, shared] = [declaredOn(handler), declaredOn(controller)];
  const scopes = own.scopes || shared.scopes ? [...(own.scopes ?? []), ...(shared.scopes ?? [])] : undefined;
  return { ...shared, ...own, errors: [...(own.errors ?? []), ...(shared.errors ?? [])], scopes };
});
