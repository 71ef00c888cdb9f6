import type { Type } from '@nestjs/common';
import type { ErrorRow } from './errors/define-errors.js';
import { HandlerMetadata } from './execution-context.js';

/** The success response of an operation. */
export interface DeclaredResponse {
  /** The DTO with the properties of the response, or of each element of its array; undefined if the response is not JSON. */
  readonly dto?: Type | undefined;
  /** Name of the response's array in the OpenAPI document. */
  readonly schemaName?: string | undefined;
  /** The address of the returned resource, without the prefix that a proxy adds. */
  readonly location?: ((resource: never) => string) | undefined;
  /** Whether the response carries the entity tag that GET returns for the same state. */
  readonly hasEntityTag?: boolean;
}

/** When an operation was deprecated, when it is removed, and where its replacement is documented. */
export interface Deprecation {
  /** Instant from which it is deprecated, in ms since the Unix epoch (RFC 9745 `Deprecation`). */
  readonly since: number;
  /** Instant from which it responds 410, in ms since the Unix epoch (RFC 8594 `Sunset`). */
  readonly sunset: number;
  /** The operation to call instead, such as `GET /v1/pets?status=available`; the description and the 410 name it. */
  readonly replacement: string;
  /** Address of the page that names the replacement (`Link` with rel `deprecation`). */
  readonly link: string;
}

/** The rate limit of uncounted operations. */
export interface UncountedBound {
  /** Name of the window in `RateLimit-Policy`; operations with the same name are counted together. */
  readonly name: string;
  /** Requests in one UTC minute. */
  readonly perMinute: number;
  /** Whether all keys of a client share the limit, or each key has it. */
  readonly per: 'client' | 'key';
  /** Requests of all keys of a client together in one UTC minute, if each key has the limit; by default as many as its keys allow. */
  readonly perClient?: number;
  /** What the operations do, for the message of a refusal: `to read the account`. */
  readonly what: string;
  /** Whether a banned key is refused, because the operation would give it a new key; by default it is admitted. */
  readonly refusesBanned?: boolean;
}

/** What the decorators of the platform declare of an operation, on its handler or, for all its handlers, on a controller. */
export interface DeclaredOperation {
  /** Its id, such as `listPets`, with its response, its class and its method; undefined without `@Operation()`. */
  readonly id?: string;
  readonly response?: DeclaredResponse;
  /** The class that declares the handler: the controller, or one that it extends. */
  readonly controller?: Type;
  /** The name of the handler in that class. */
  readonly method?: string;
  /** The description of `@Tag()`. */
  readonly tagDescription?: string;
  /** The errors of `@ApiErrors()`, of the handler and of the controller. */
  readonly errors?: readonly ErrorRow[];
  /** Whether callers need no key: `@Public()`. */
  readonly isPublic?: boolean;
  /** All scopes that a key needs; undefined without `@RequireScopes()`, empty when it has no argument. */
  readonly scopes?: readonly string[] | undefined;
  /** The limit of `@Uncounted()`. */
  readonly bound?: UncountedBound;
  readonly deprecation?: Deprecation;
  /** Whether it is `@Cached()`. */
  readonly isCached?: boolean;
  /** Whether it is `@Idempotent()`. */
  readonly isIdempotent?: boolean;
  /** Whether requests must have an `If-Match`; undefined without `@IfMatch()`. */
  readonly ifMatch?: 'required' | 'optional';
  /** Largest body, decoded, in bytes; undefined for BODY_LIMIT_BYTES. */
  readonly bodyLimitBytes?: number | undefined;
  /** Whether it is `@ServedUnderOverload()`. */
  readonly isServedUnderOverload?: boolean;
}

/** The metadata key of all these decorators. Nest copies its value to the function that it registers. */
const DECLARED = 'petstore:operation';

/** Adds to what is declared of a handler or of a controller, which inherits the declarations of the class that it extends. */
export function declareOperation(target: object, more: DeclaredOperation): void {
  Reflect.defineMetadata(DECLARED, { ...declaredOn(target), ...more }, target);
}

/** A decorator that declares something of a handler or of a controller. */
export function declaring(more: DeclaredOperation): ClassDecorator & MethodDecorator {
  return (target: object, _member?: string | symbol, descriptor?: PropertyDescriptor): void =>
    declareOperation((descriptor?.value as object | undefined) ?? target, more);
}

/** What is declared on a controller, on a handler, or on the function that Nest registers for it. */
export function declaredOn(target: object): DeclaredOperation {
  return (Reflect.getMetadata(DECLARED, target) ?? {}) as DeclaredOperation;
}

/** What is declared of a handler, on itself or on its controller: the handler's goes before; errors and scopes are added up. */
export const DECLARATIONS = new HandlerMetadata<DeclaredOperation>(([handler, controller]) => {
  const [own, shared] = [declaredOn(handler), declaredOn(controller)];
  const scopes = own.scopes || shared.scopes ? [...(own.scopes ?? []), ...(shared.scopes ?? [])] : undefined;
  return { ...shared, ...own, errors: [...(own.errors ?? []), ...(shared.errors ?? [])], scopes };
});
