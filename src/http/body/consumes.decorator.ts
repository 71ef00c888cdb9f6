import { type Type, applyDecorators } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { HandlerMetadata } from '../../handler-metadata.js';
import { parametersOf } from '../adapter/handler-parameters.js';
import { accepts, isJsonInUtf8, isJsonType, mediaTypeOf } from '../media-type.js';

/** Metadata key of `@Consumes()`. */
const CONSUMES = 'petstore:consumes';
const JSON_TYPE = 'application/json';

/** Which bodies a handler takes, and who reads them. */
export interface Consumption {
  /** The media type, or a range such as `image/*`, in lower case. */
  readonly type: string;
  /** Largest body, decoded, in bytes; undefined for BODY_LIMIT_BYTES. */
  readonly limitBytes: number | undefined;
  /** Whether the body is read before the handler runs; otherwise an interceptor of the handler or the handler itself reads it. */
  readonly isRead: boolean;
  /** Whether a body that is JSON is parsed. */
  readonly isParsed: boolean;
}

/** What every handler without `@Consumes()` takes. */
const JSON_BODY: Consumption = { type: JSON_TYPE, limitBytes: undefined, isRead: true, isParsed: true };

/**
 * Declares that a handler takes bodies of another media type than `application/json`: a type such as `multipart/form-data`, or
 * a range such as `image/*`. A body of any other type is answered 415. `limitBytes` takes the place of BODY_LIMIT_BYTES for this
 * handler. JSON is parsed for `@Body()`; Nest's `@RawBody()` is given the bytes of any type. Without either the body is left to
 * an interceptor, such as Nest's `FileInterceptor`, or to the handler, which reads the request as a stream.
 */
export function Consumes(type: string, options: { readonly limitBytes?: number } = {}): MethodDecorator {
  const range = type.toLowerCase();
  const isJson = isJsonType(range);
  return (prototype, method, descriptor: PropertyDescriptor) => {
    // The decorators of parameters have run before those of their method.
    const parameters = parametersOf(prototype.constructor as Type, String(method));
    const kinds = new Set(parameters.map(({ kind }) => kind));
    const hasBody = kinds.has(RouteParamtypes.BODY);
    const consumption: Consumption = {
      type: range,
      limitBytes: options.limitBytes,
      isRead: isJson || kinds.has(RouteParamtypes.RAW_BODY),
      isParsed: isJson || hasBody,
    };
    Reflect.defineMetadata(CONSUMES, consumption, descriptor.value as object);
    // @nestjs/swagger documents a body by the class of `@Body()`; bytes have none.
    const documented = hasBody || isJson ? [] : [ApiBody({ schema: { type: 'string', format: 'binary' } })];
    applyDecorators(ApiConsumes(type), ...documented)(prototype, method, descriptor);
  };
}

/** Which bodies a handler takes, or the function that Nest registers for it. */
export function consumptionOf(handler: object): Consumption {
  return (Reflect.getMetadata(CONSUMES, handler) as Consumption | undefined) ?? JSON_BODY;
}

/** Which bodies the handler of a request takes. */
export const CONSUMPTION = new HandlerMetadata(([handler]) => consumptionOf(handler));

/** Whether a `Content-Type` is of the type or range that a handler takes; JSON must be in UTF-8. */
export function takes({ type }: Consumption, contentType: string | undefined): boolean {
  if (type === JSON_TYPE) return isJsonInUtf8(contentType);
  const sent = mediaTypeOf(contentType);
  return sent !== '' && accepts(type, sent) && (!isJsonType(sent) || isJsonInUtf8(contentType, sent));
}
