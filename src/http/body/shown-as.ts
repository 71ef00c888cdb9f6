import type { Type } from '@nestjs/common';
import { declaredMembers } from '../../database/declared-members.js';

/**
 * An answer as a DTO declares it: of an object the declared members, in the order of the schema, of an array each element so.
 * An object without a required member is none of this DTO, such as the envelope that an added interceptor puts around
 * answers, and is left as it is; what the document says of the operation is not true of it, and the test kit tells.
 */
export function shownAs(dto: Type, answer: unknown): unknown {
  const value = inJson(answer);
  if (Array.isArray(value)) return value.map((element) => shownAs(dto, element));
  return isObject(value) && isOf(dto, value) ? declaredOf(dto, value) : value;
}

/** Of a value within an answer nothing is shown that its class does not declare; a class that declares nothing shows all. */
function partOf(dto: Type, part: unknown): unknown {
  const value = inJson(part);
  if (Array.isArray(value)) return value.map((element) => partOf(dto, element));
  return isObject(value) ? declaredOf(dto, value) : value;
}

function declaredOf(dto: Type, value: Members): unknown {
  const members = declaredMembers(dto);
  if (members.length === 0) return value;
  const shown: Record<string, unknown> = {};
  for (const { property, name, type } of members) {
    const member = value[property];
    if (member !== undefined) shown[name] = type ? partOf(type, member) : member;
  }
  return shown;
}

function isOf(dto: Type, value: Members): boolean {
  return declaredMembers(dto).every(({ property, isRequired }) => !isRequired || property in value);
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** JSON is made of what `toJSON` answers, where there is one. */
function inJson(value: unknown): unknown {
  return isObject(value) && typeof value['toJSON'] === 'function' ? (value['toJSON']() as unknown) : value;
}
