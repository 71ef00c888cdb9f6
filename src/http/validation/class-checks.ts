import type { Type } from '@nestjs/common';
import { declarationFault } from '../../core/declaration-faults.js';
import { declaredMembers } from '../../database/declared-members.js';
import { classesIn } from '../operations/declared-shape.js';
import { nestedIn, renamedIn } from './class-transformer.js';
import { defaultedFieldOf } from './field-table.js';
import { isMergePatch } from '../operations/consumption.js';

/** Checks that a class of a request, and each within it, has one name for each field: where it is read, validated and documented. */
export function checkRequestNames(type: Type, seen = new Set<unknown>()): void {
  if (seen.has(type)) return;
  seen.add(type);
  const declared = declaredMembers(type).filter(({ property, name }) => name !== property);
  const renamed = [
    ...renamedIn(type, 'toPlainOnly').map(([property, name]) => ['Expose', property, name] as const),
    ...declared.map(({ property, name }) => ['ApiProperty', property, name] as const),
  ];
  for (const [decorator, property, name] of renamed)
    declarationFault(
      `${type.name}.${property}: @${decorator}({ name: '${name}' }) has no effect on what is validated. Rename the property to ${name}.`,
    );
  for (const nested of [...nestedIn(type), ...classesIn(type)])
    if (typeof nested === 'function') checkRequestNames(nested as Type, seen);
}

/** Checks that a class of a response, and each within it, has one name for each member: where it is documented and where it is sent. */
export function checkResponseNames(type: Type, seen = new Set<unknown>()): void {
  if (seen.has(type)) return;
  seen.add(type);
  for (const [property, name] of renamedIn(type, 'toClassOnly'))
    declarationFault(
      `${type.name}.${property}: @Expose({ name: '${name}' }) has no effect on a response. Use @ApiProperty({ name: '${name}' }).`,
    );
  for (const nested of classesIn(type)) checkResponseNames(nested, seen);
}

/** Checks that no field of the body of a PATCH has a value where it is not sent: it would be set by a request that leaves it as it is. */
export function checkPatch(type: Type): void {
  const field = isMergePatch(type) ? undefined : defaultedFieldOf(type);
  if (field !== undefined)
    declarationFault(
      `${type.name}.${field}: its default would be set by each PATCH that does not send it. ` +
        'Extend MergePatch() instead of PartialType(), or remove the default.',
    );
}
