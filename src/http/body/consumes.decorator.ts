import { SetMetadata, type Type, applyDecorators } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ApiBody, ApiConsumes, DECORATORS } from '@nestjs/swagger';
import { mayReadBody, parametersOf } from '../operations/handler-parameters.js';
import { isMergePatch } from '../validation/merge-patch.js';
import { accepts, isJsonInUtf8, isJsonType, mediaTypeOf } from '../../core/media-type.js';

/** Metadata key of the `limitBytes` of `@Consumes()`. */
const LIMIT = 'petstore:body-limit';
const JSON_TYPE = 'application/json';
const JSON_ALONE: readonly string[] = [JSON_TYPE];
const OF_PATCH: readonly string[] = ['application/merge-patch+json', JSON_TYPE];
const FORM_ALONE: readonly string[] = ['multipart/form-data'];

const OF_FILES: ReadonlySet<unknown> = new Set([RouteParamtypes.FILE, RouteParamtypes.FILES]);

/** The bodies that a handler accepts, and who reads them. */
export interface Consumption {
  /** The media types, or ranges such as `image/*`, in lower case. */
  readonly types: readonly string[];
  /** Largest body, decoded, in bytes; undefined for BODY_LIMIT_BYTES. */
  readonly limitBytes: number | undefined;
  /** Whether the body is read before the handler runs; otherwise an interceptor of the handler or the handler itself reads it. */
  readonly isRead: boolean;
  /** Whether a body that is JSON is parsed. */
  readonly isParsed: boolean;
  /** Whether the handler may read a body, or its document describes one. */
  readonly isWanted: boolean;
  /** Whether the handler may read the texts of a form, and not only its files. */
  readonly takesText: boolean;
}

/**
 * Declares that a handler accepts bodies of another media type than `application/json`: a type such as `multipart/form-data`, or
 * a range such as `image/*`. A body of any other type gets 415. `limitBytes` replaces BODY_LIMIT_BYTES for this
 * handler. JSON is parsed for `@Body()`; Nest's `@RawBody()` gets the bytes of any type. Without either, the body is left to
 * an interceptor, such as Nest's `FileInterceptor`, or to the handler, which reads the request as a stream.
 */
export function Consumes(type: string, options: { readonly limitBytes?: number } = {}): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    const declare = applyDecorators(ApiConsumes(type), SetMetadata(LIMIT, options.limitBytes));
    declare(prototype, method, descriptor);
    const handler = descriptor.value as object;
    const { isParsed } = consumptionOf(handler, prototype.constructor as Type, String(method));
    // @nestjs/swagger documents a body by the class of `@Body()`; bytes have none.
    if (!isParsed) ApiBody({ schema: { type: 'string', format: 'binary' } })(prototype, method, descriptor);
  };
}

/**
 * The bodies that a handler accepts: those of `@ApiConsumes()`, which is part of `@Consumes()`, otherwise a form where it takes
 * files, or JSON of the types of its `@Body()` class.
 */
export function consumptionOf(handler: object, controller: Type, method = ''): Consumption {
  const [ofHandler, ofController] = [handler, controller].map(
    (target) => Reflect.getMetadata(DECORATORS.API_CONSUMES, target) as readonly string[] | undefined,
  );
  const declared = ofHandler ?? ofController ?? mediaTypesOf(controller, method);
  const types = declared.map((type) => type.toLowerCase());
  const isJson = types.every(isJsonType);
  const parameters = parametersOf(controller, method);
  const kinds = new Set(parameters.map(({ kind }) => kind));
  const documented = (Reflect.getMetadata(DECORATORS.API_PARAMETERS, handler) ?? []) as { in?: string }[];
  return {
    types,
    limitBytes: Reflect.getMetadata(LIMIT, handler) as number | undefined,
    isRead: isJson || kinds.has(RouteParamtypes.RAW_BODY),
    isParsed: isJson || kinds.has(RouteParamtypes.BODY),
    // Without its name in the controller, the parameters of a handler are unknown.
    isWanted: method === '' || parameters.some(mayReadBody) || documented.some((one) => one.in === 'body'),
    takesText: method === '' || parameters.some((one) => mayReadBody(one) && !OF_FILES.has(one.kind)),
  };
}

/** Whether a `Content-Type` is of a type or range that a handler takes; JSON must be in UTF-8. */
export function takes({ types }: Consumption, contentType: string | undefined): boolean {
  if (types[0] === JSON_TYPE && isJsonInUtf8(contentType)) return true;
  const sent = mediaTypeOf(contentType);
  if (sent === '' || !types.some((type) => accepts(type, sent))) return false;
  return !isJsonType(sent) || isJsonInUtf8(contentType, sent);
}

/** The media types that the body of a handler may have, by its `@UploadedFile()` and the class of its `@Body()`. */
function mediaTypesOf(controller: Type, method: string): readonly string[] {
  const parameters = parametersOf(controller, method);
  if (parameters.some(({ kind }) => OF_FILES.has(kind))) return FORM_ALONE;
  const body = parameters.find(({ kind }) => kind === RouteParamtypes.BODY);
  return body?.metatype && isMergePatch(body.metatype) ? OF_PATCH : JSON_ALONE;
}
