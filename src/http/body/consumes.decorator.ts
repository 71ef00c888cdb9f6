import type { Type } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { declareOperation } from '../../core/declared-operation.js';
import { consumptionOf } from '../operations/consumption.js';

/**
 * Declares that a handler accepts bodies of a media type other than `application/json`: a type such as `multipart/form-data`, or a range
 * such as `image/*`. A body of any other type is refused with 415. `limitBytes` replaces BODY_LIMIT_BYTES for this handler. JSON is parsed
 * for `@Body()`; Nest's `@RawBody()` receives the bytes of any type. Without either, the body is read by an interceptor, such as Nest's
 * `FileInterceptor`, or by the handler, as a stream.
 */
export function Consumes(type: string, options: { readonly limitBytes?: number } = {}): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const handler = descriptor.value as object;
    ApiConsumes(type)(prototype, method, descriptor);
    declareOperation(handler, { bodyLimitBytes: options.limitBytes });
    const { isParsed } = consumptionOf(handler, prototype.constructor as Type, String(method));
    // @nestjs/swagger documents a body by the class of its `@Body()`; raw bytes have none.
    if (!isParsed) ApiBody({ schema: { type: 'string', format: 'binary' } })(prototype, method, descriptor);
  };
}
