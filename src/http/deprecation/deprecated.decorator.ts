import { declarationFault, decorated } from '../../core/declaration-faults.js';
import { type Deprecation, declareOperation } from '../../core/declared-operation.js';

/**
 * Deprecates an operation: every response carries `Deprecation`, `Sunset` and `Link`, the document says so,
 * `petstore usage` shows which clients still call it, and from the sunset on it responds 410 operation_removed and is named in no `Allow`.
 */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  return (target, member, descriptor: PropertyDescriptor) => {
    if (deprecation.sunset < deprecation.since)
      declarationFault(
        `${decorated(target, member)}: @Deprecated() has a sunset before its since. Swap them.`,
      );
    declareOperation(descriptor.value as object, { deprecation });
  };
}
