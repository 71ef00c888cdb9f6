import { type Type, applyDecorators } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import { parametersOf } from '../adapter/handler-parameters.js';
import { accepts, isJsonInUtf8, isJsonType, mediaTypeOf } from '../media-type.js';

/** Metadata key of `@Consumes()`. */
const CONSUMES = 'petstore:consumes';
const JSON_TYPE = 'application/json';
const MEDIA_TYPES = 'petstore:media-types';
const JSON_ALONE: readonly string[] = [JSON_TYPE];

/** Which bodies a handler takes, and who reads them. */
export interface Consumption {
  /** The media types, or ranges such as `image/*`, in lower case. */
  readonly types: readonly string[];
  /** Largest body, decoded, in bytes; undefined for BODY_LIMIT_BYTES. */
  readonly limitBytes: number | undefined;
  /** Whether the body is read before the handler runs; otherwise an interceptor of the handler or the handler itself reads it. */
  readonly isRead: boolean;
  /** Whether a body that is JSON is parsed. */
  readonly isParsed: boolean;
}

/** What every handler without `@Consumes()` takes. */
const JSON_BODY: Consumption = { types: JSON_ALONE, limitBytes: undefined, isRead: true, isParsed: true };

/** What a handler takes that looks at no body. */
const NO_BODY: Consumption = { types: [], limitBytes: undefined, isRead: false, isParsed: false };

/** Declares that a handler looks at no body: whatever is sent is neither read nor refused. */
export function ignoreBodies(handler: object): void {
  Reflect.defineMetadata(CONSUMES, NO_BODY, handler);
}

/** Whether a handler looks at no body. */
export function ignoresBodies(consumption: Consumption): boolean {
  return consumption === NO_BODY;
}

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
      types: [range],
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

/**
 * Which bodies a handler takes, or the function that Nest registers for it: those of `@Consumes()`, else JSON of the types that
 * the class of its `@Body()` takes. Without the controller and the method's name, the latter are not known.
 */
export function consumptionOf(handler: object, controller?: Type, method?: string): Consumption {
  const declared = Reflect.getMetadata(CONSUMES, handler) as Consumption | undefined;
  if (declared || !controller) return declared ?? JSON_BODY;
  return { ...JSON_BODY, types: mediaTypesOf(controller, method) };
}

/** Whether a `Content-Type` is of a type or range that a handler takes; JSON must be in UTF-8. */
export function takes({ types }: Consumption, contentType: string | undefined): boolean {
  if (types[0] === JSON_TYPE && isJsonInUtf8(contentType)) return true;
  const sent = mediaTypeOf(contentType);
  if (sent === '' || !types.some((type) => accepts(type, sent))) return false;
  return !isJsonType(sent) || isJsonInUtf8(contentType, sent);
}

/** Says which media types, all of them JSON, a body of this class may have; without it application/json alone. */
export function declareMediaTypes(dto: object, ...types: readonly string[]): void {
  Reflect.defineMetadata(MEDIA_TYPES, types, dto);
}

/** The media types that the body of a handler may have, by the class of its `@Body()` parameter. */
export function mediaTypesOf(controller: Type, method: string | undefined): readonly string[] {
  if (method === undefined) return JSON_ALONE;
  const body = parametersOf(controller, method).find(({ kind }) => kind === RouteParamtypes.BODY);
  const dto: unknown = body?.metatype;
  if (typeof dto !== 'function') return JSON_ALONE;
  return (Reflect.getMetadata(MEDIA_TYPES, dto) as readonly string[] | undefined) ?? JSON_ALONE;
}
