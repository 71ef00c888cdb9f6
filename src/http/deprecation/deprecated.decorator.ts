import { invalidDeclaration, decorated } from '../../core/declaration-errors.js';
import { type Deprecation, declareOperation } from '../../core/declared-operation.js';

/**
 * Deprecates an operation: every response has `Deprecation`, `Sunset` and `Link` headers, the document marks it as deprecated, and
 * `petstore usage` shows which clients still call it. From the sunset on, it responds with 410 operation_removed and is not listed in
 * `Allow`.
 */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  return (target, member, descriptor: PropertyDescriptor) => {
    if (deprecation.sunset < deprecation.since)
      invalidDeclaration(
        `${decorated(target, member)}: the sunset of @Deprecated() is before its since. Swap the two values.`,
      );
    declareOperation(descriptor.value as object, { deprecation });
  };
}
