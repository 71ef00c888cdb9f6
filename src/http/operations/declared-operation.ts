import type { Type } from '@nestjs/common';

/** Metadata key of `@Operation()`; Nest copies it to the function that it registers. */
const OPERATION = 'petstore:operation';

/** The success response of a handler. */
export interface DeclaredAnswer {
  /** Name of the response's array in the OpenAPI document. */
  readonly schemaName?: string | undefined;
  /** The DTO with the properties of the response, or of each element of its array; none if the response is not JSON. */
  readonly shownAs?: Type | undefined;
  /** The address of the returned resource, without the prefix that a proxy adds. */
  readonly location?: ((answer: never) => string) | undefined;
  /** Whether the response carries the entity tag that GET returns for the same state. */
  readonly hasEntityTag?: boolean;
}

/** A handler with `@Operation()`. It returns JSON, an empty body, or another type that it names. */
export interface DeclaredOperation extends DeclaredAnswer {
  /** Its id, such as `listPets`. */
  readonly id: string;
  /** Where the handler is declared: the prototype of its controller, or of a class that the controller extends. */
  readonly prototype: object;
  /** The name of the handler in that prototype. */
  readonly method: string;
}

/** Declares a method as the handler of an operation; used by `@Operation()`. */
export function declareOperation(id: string, answer: DeclaredAnswer): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const operation: DeclaredOperation = { id, prototype, method: String(method), ...answer };
    Reflect.defineMetadata(OPERATION, operation, descriptor.value as object);
  };
}

/** The declaration of a handler, or of the function that Nest registers for it; undefined without `@Operation()`. */
export function declaredOperationOf(handler: object): DeclaredOperation | undefined {
  return Reflect.getMetadata(OPERATION, handler) as DeclaredOperation | undefined;
}
