import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DECORATORS } from '@nestjs/swagger';
import { accepts, isJsonInUtf8, isJsonType, mediaTypeOf } from '../../core/media-type.js';
import { type HandlerParameter, mayReadBody, parametersOf } from './handler-parameters.js';

const JSON_TYPE = 'application/json';
const JSON_ALONE: readonly string[] = [JSON_TYPE];
const OF_PATCH: readonly string[] = ['application/merge-patch+json', JSON_TYPE];
const FORM_ALONE: readonly string[] = ['multipart/form-data'];

const OF_FILES: ReadonlySet<unknown> = new Set([RouteParamtypes.FILE, RouteParamtypes.FILES]);

/** The bodies that a handler accepts, and how they are read. */
export interface Consumption {
  /** Media types, or ranges such as `image/*`, in lower case. */
  readonly types: readonly string[];
  /** Whether the body is read before the handler runs; otherwise, an interceptor or the handler reads it. */
  readonly isRead: boolean;
  /** Whether a JSON body is parsed. */
  readonly isParsed: boolean;
  /** Whether the handler may read a body, or its document describes one. */
  readonly isWanted: boolean;
  /** Whether the handler may read the text fields of a form, not only its files. */
  readonly acceptsText: boolean;
}

/**
 * The bodies that a handler accepts: those of `@ApiConsumes()`, which is part of `@Consumes()`; by default, a form if it accepts files, or
 * JSON of the types of its `@Body()` class.
 */
export function consumptionOf(handler: object, controller: Type, method: string): Consumption {
  const parameters = parametersOf(controller, method);
  const [ofHandler, ofController] = [handler, controller].map(
    (target) => Reflect.getMetadata(DECORATORS.API_CONSUMES, target) as readonly string[] | undefined,
  );
  const types = (ofHandler ?? ofController ?? typesOf(parameters)).map((type) => type.toLowerCase());
  const isJson = types.every(isJsonType);
  const kinds = new Set(parameters.map(({ kind }) => kind));
  const documented = (Reflect.getMetadata(DECORATORS.API_PARAMETERS, handler) ?? []) as { in?: string }[];
  return {
    types,
    isRead: isJson || kinds.has(RouteParamtypes.RAW_BODY),
    isParsed: isJson || kinds.has(RouteParamtypes.BODY),
    // The parameters of a handler without a name in the controller are unknown.
    isWanted: method === '' || parameters.some(mayReadBody) || documented.some((one) => one.in === 'body'),
    acceptsText: method === '' || parameters.some((one) => mayReadBody(one) && !OF_FILES.has(one.kind)),
  };
}

function typesOf(parameters: readonly HandlerParameter[]): readonly string[] {
  if (parameters.some(({ kind }) => OF_FILES.has(kind))) return FORM_ALONE;
  const body = parameters.find(({ kind }) => kind === RouteParamtypes.BODY);
  return body?.metatype && isMergePatch(body.metatype) ? OF_PATCH : JSON_ALONE;
}

/** Whether a handler accepts a `Content-Type`; JSON must be UTF-8. */
export function acceptsType({ types }: Consumption, contentType: string | undefined): boolean {
  if (types[0] === JSON_TYPE && isJsonInUtf8(contentType)) return true;
  const sent = mediaTypeOf(contentType);
  if (sent === '' || !types.some((type) => accepts(type, sent))) return false;
  return !isJsonType(sent) || isJsonInUtf8(contentType, sent);
}

/** The classes created by `MergePatch()`. */
export const MERGE_PATCHES = new WeakSet<object>();

/** Whether a class or one of its parents is a merge patch. */
export function isMergePatch(metatype: object): boolean {
  for (let one: object | null = metatype; one; one = Object.getPrototypeOf(one) as object | null)
    if (MERGE_PATCHES.has(one)) return true;
  return false;
}
