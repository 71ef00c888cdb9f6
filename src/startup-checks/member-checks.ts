import type { Type } from '@nestjs/common';
import { DECORATORS } from '@nestjs/swagger';
import { declaredMembers } from '../database/declared-members.js';
import { declaredOperationOf } from '../http/adapter/declared-operation.js';
import { declaredFieldsOf } from '../input/declared-fields.js';
import type { CheckedHandler, Findings } from './checked-handlers.js';

/** What a decorator says of a property in the document. */
interface Documented {
  readonly type?: unknown;
  readonly format?: string;
}

/** Checks that the properties of DTOs have the types that their decorators read and JSON can show. */
export function checkMembers(handlers: readonly CheckedHandler[], { faults }: Findings): void {
  for (const dto of dtosOf(handlers)) {
    const prototype = dto.prototype as object;
    const fields = declaredFieldsOf(dto);
    for (const { property } of declaredMembers(dto)) {
      const type: unknown = Reflect.getMetadata('design:type', prototype, property);
      const documented = (Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, property) ??
        {}) as Documented;
      const fault = faultOf(type, documented, fields.has(property));
      if (fault !== undefined) faults.push(`${dto.name}.${property}: ${fault}`);
    }
  }
}

function faultOf(type: unknown, { type: shown, format }: Documented, isRead: boolean): string | undefined {
  if (type === Buffer) return 'JSON cannot show bytes. Declare text, such as base64, or answer a stream.';
  // A property that is answered alone has a decorator that documents it and makes nothing.
  if (!isRead) return undefined;
  if (type === BigInt && shown === 'integer' && format !== 'int64')
    return 'it is a bigint, but its decorator makes it a number. Use @Int64(), or declare a number.';
  if (type === Number && shown === 'integer' && format === 'int64')
    return 'it is a number, but @Int64() makes it a bigint. Declare a bigint, or use @Integer().';
  if (type === Date && shown === 'string')
    return 'it is a Date, but its decorator makes it a text. Declare a string.';
  return undefined;
}

/** Every class whose properties a request or an answer has, directly or within another. */
function dtosOf(handlers: readonly CheckedHandler[]): ReadonlySet<Type> {
  const found = new Set<Type>();
  const add = (dto: Type | undefined): void => {
    if (!dto || found.has(dto) || declaredMembers(dto).length === 0) return;
    found.add(dto);
    for (const { type } of declaredMembers(dto)) add(type);
  };
  for (const { handler, parameters } of handlers) {
    add(declaredOperationOf(handler)?.shownAs);
    for (const { metatype } of parameters) add(metatype);
  }
  return found;
}
