import { SetMetadata } from '@nestjs/common';
import { declarationFault, decorated } from '../../core/declaration-faults.js';

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

/** Metadata key of `@Deprecated()`. */
export const DEPRECATION = 'petstore:deprecation';

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
    SetMetadata(DEPRECATION, deprecation)(target, member, descriptor);
  };
}
