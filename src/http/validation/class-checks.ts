import type { Type } from '@nestjs/common';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { declaredMembers } from '../../database/declared-members.js';
import { classesIn } from '../operations/declared-shape.js';
import { isInstantiated, nestedIn, renamedIn } from './class-transformer.js';
import { defaultedFieldOf, nestedFieldsOf } from './field-table.js';
import { isMergePatch } from '../operations/consumption.js';

/** Checks that a request class and its nested classes are parsed as they are validated and documented. */
export function checkRequest(type: Type, seen = new Set<unknown>()): void {
  if (seen.has(type)) return;
  seen.add(type);
  checkRequestNames(type);
  checkNestedFields(type);
  for (const nested of [...nestedIn(type), ...classesIn(type)])
    if (typeof nested === 'function') checkRequest(nested as Type, seen);
}

/** Checks that a class uses the same name of each field to parse, validate and document it. */
function checkRequestNames(type: Type): void {
  const declared = declaredMembers(type).filter(({ property, name }) => name !== property);
  const renamed = [
    ...renamedIn(type, 'toPlainOnly').map(([property, name]) => ['Expose', property, name] as const),
    ...declared.map(({ property, name }) => ['ApiProperty', property, name] as const),
  ];
  for (const [decorator, property, name] of renamed)
    invalidDeclaration(
      `${type.name}.${property}: @${decorator}({ name: '${name}' }) has no effect on what is validated. Rename the property to ${name}.`,
    );
}

/** Checks that the class of nested objects is known, because class-validator has no rules for others, and refuses all of their fields. */
function checkNestedFields(type: Type): void {
  for (const field of nestedFieldsOf(type)) {
    if (isInstantiated(type, field)) continue;
    const [of] = [
      ...classesIn(type, field),
      Reflect.getMetadata('design:type', type.prototype as object, field) as Type | undefined,
    ];
    const known =
      of && of !== Object && of !== Array ? `@Type(() => ${of.name})` : '@Type() with their class';
    invalidDeclaration(
      `${type.name}.${field}: @ValidateNested() refuses all objects whose class is unknown. Add ${known}, from class-transformer.`,
    );
  }
}

/** Checks that a response class and its nested classes use the same name of each member to document and send it. */
export function checkResponseNames(type: Type, seen = new Set<unknown>()): void {
  if (seen.has(type)) return;
  seen.add(type);
  for (const [property, name] of renamedIn(type, 'toClassOnly'))
    invalidDeclaration(
      `${type.name}.${property}: @Expose({ name: '${name}' }) has no effect on a response. Use @ApiProperty({ name: '${name}' }).`,
    );
  for (const nested of classesIn(type)) checkResponseNames(nested, seen);
}

/** Checks that no field in the body of a PATCH has a default, because a request that omits the field would set it. */
export function checkPatch(type: Type): void {
  const field = isMergePatch(type) ? undefined : defaultedFieldOf(type);
  if (field !== undefined)
    invalidDeclaration(
      `${type.name}.${field}: its default would be set by each PATCH that does not send it. ` +
        'Extend MergePatch() instead of PartialType(), or remove the default.',
    );
}
