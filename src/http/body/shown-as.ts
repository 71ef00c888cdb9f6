import type { Type } from '@nestjs/common';
import { declaredMembers } from '../../database/declared-members.js';

/**
 * An answer reduced to what a DTO declares: the declared members of an object, in the order of the schema, and of an array
 * each element so. An object that lacks a required member is not of this DTO (an added interceptor may wrap answers in an
 * envelope) and stays as it is; the test kit reports that it contradicts the OpenAPI document.
 */
export function shownAs(dto: Type, answer: unknown): unknown {
  const value = inJson(answer);
  if (Array.isArray(value)) return value.map((element) => shownAs(dto, element));
  return isObject(value) && isOf(dto, value) ? declaredOf(dto, value) : value;
}

/** A nested value reduced to what its class declares; all of it if the class declares no member. */
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

/** JSON is made from what `toJSON` returns, as JSON.stringify does. */
function inJson(value: unknown): unknown {
  return isObject(value) && typeof value['toJSON'] === 'function' ? (value['toJSON']() as unknown) : value;
}
