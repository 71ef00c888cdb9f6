import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { parametersOf } from '../adapter/handler-parameters.js';

const MEDIA_TYPES = 'petstore:media-types';
const JSON_ALONE: readonly string[] = ['application/json'];

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
