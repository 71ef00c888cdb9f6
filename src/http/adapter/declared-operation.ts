import type { Type } from '@nestjs/common';

/** Metadata key of what `@Operation()` tells of a handler. Nest copies it to what it registers with the adapter. */
const OPERATION = 'petstore:operation';

/** A handler that `@Operation()` declares: it answers JSON or nothing. */
export interface DeclaredOperation {
  /** Where the handler was declared: the prototype of its controller, or of a class that the controller extends. */
  readonly prototype: object;
  /** The name of the handler there. */
  readonly method: string;
  /** The DTO that the answer, or each element of it, is shown as. */
  readonly shownAs: Type;
}

/** Declares a handler as an operation; part of `@Operation()`. */
export function declareOperation(shownAs: Type): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const operation: DeclaredOperation = { prototype, method: String(method), shownAs };
    Reflect.defineMetadata(OPERATION, operation, descriptor.value as object);
  };
}

/** What was declared of a handler, or of what Nest registers for it. */
export function declaredOperationOf(handler: object): DeclaredOperation | undefined {
  return Reflect.getMetadata(OPERATION, handler) as DeclaredOperation | undefined;
}
