import type { Type } from '@nestjs/common';

/** Metadata key of what `@Operation()` declares of a handler; Nest copies it to the function that it registers. */
const OPERATION = 'petstore:operation';

/** How a handler answers when it succeeds. */
export interface DeclaredAnswer {
  /** What the OpenAPI document calls the array that is answered. */
  readonly schemaName?: string | undefined;
  /** The DTO that decides which properties of the response, or of each element of an answered array, are written; none if that is not JSON. */
  readonly shownAs?: Type | undefined;
  /** The address of what the handler answers, without the prefix that a proxy adds. */
  readonly location?: ((answer: never) => string) | undefined;
  /** Whether the response carries the entity tag that GET returns for the same state. */
  readonly hasEntityTag?: boolean;
}

/** A handler that `@Operation()` declares. It answers JSON, an empty body, or another type that it names. */
export interface DeclaredOperation extends DeclaredAnswer {
  /** Where the handler is declared: the prototype of its controller, or of a class that the controller extends. */
  readonly prototype: object;
  /** The name of the handler in that prototype. */
  readonly method: string;
}

/** Declares a method as the handler of an operation; used by `@Operation()`. */
export function declareOperation(answer: DeclaredAnswer): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const operation: DeclaredOperation = { prototype, method: String(method), ...answer };
    Reflect.defineMetadata(OPERATION, operation, descriptor.value as object);
  };
}

/** What `@Operation()` declares of a handler, or of what Nest registers for it; undefined if it declares nothing. */
export function declaredOperationOf(handler: object): DeclaredOperation | undefined {
  return Reflect.getMetadata(OPERATION, handler) as DeclaredOperation | undefined;
}
