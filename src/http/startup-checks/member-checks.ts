import type { Type } from '@nestjs/common';
import { declaredMembers } from '../../database/declared-members.js';
import { declaredOperationOf } from '../adapter/declared-operation.js';
import type { CheckedHandler, Findings } from './checked-handlers.js';

/** Checks that JSON can show the properties of DTOs. */
export function checkMembers(handlers: readonly CheckedHandler[], { faults }: Findings): void {
  for (const dto of dtosOf(handlers))
    for (const { property } of declaredMembers(dto))
      if (Reflect.getMetadata('design:type', dto.prototype as object, property) === Buffer)
        faults.push(
          `${dto.name}.${property}: JSON cannot show bytes. Declare text, such as base64, or answer a stream.`,
        );
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
