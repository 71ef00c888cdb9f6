import type { Type } from '@nestjs/common';
import { DECORATORS, PartialType } from '@nestjs/swagger';
import { declaredMembers } from '../../database/declared-members.js';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { MERGE_PATCHES } from '../operations/consumption.js';
import { Rule } from './define-field.js';

/** The type of a resource's merge patch: any of its fields, or null for nullable and optional ones. */
export type MergePatchOf<Dto> = {
  [Field in keyof Dto]?: Dto[Field] | (undefined extends Dto[Field] ? null : never);
};

/** The metadata of @nestjs/swagger that determines a property's patch. */
interface DocumentedField {
  readonly required?: boolean;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly type?: unknown;
}

const BUILT_IN: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Date, Object, Array]);

/**
 * The class of a JSON merge patch (RFC 7396) of a resource, derived from the class of the body that creates it:
 *
 * export class ToyPatch extends MergePatch(NewToy) {}
 *
 * A field that is not sent does not change, and is not a property of the patch. null removes a field that is `nullable`, or `optional`
 * without a default; for any other field, it is refused as `not_removable`. All other values are converted and validated as in the body
 * that creates the resource. The media type of a request is application/merge-patch+json or application/json. The service does not start if
 * a field contains an object, because nested patches are not supported.
 */
export function MergePatch<Dto extends object>(resource: Type<Dto>): Type<MergePatchOf<Dto>> {
  const patch = PartialType(resource, { skipNullProperties: false });
  for (const { property } of declaredMembers(resource)) declareField(resource, patch, property);
  MERGE_PATCHES.add(patch);
  return patch;
}

function declareField(resource: Type, patch: Type, property: string): void {
  const key = DECORATORS.API_MODEL_PROPERTIES;
  const documented = Reflect.getMetadata(key, resource.prototype as object, property) as DocumentedField;
  const { required, nullable, default: fallback, type, ...others } = documented;
  if (typeof type === 'function' && !BUILT_IN.has(type))
    invalidDeclaration(
      `MergePatch(${resource.name}): ${property} is an object, which a patch cannot contain. Make it fields of ${resource.name}.`,
    );
  const isRemovable = nullable === true || (required === false && fallback === undefined);
  Reflect.defineMetadata(
    key,
    { ...others, type, required: false, ...(isRemovable ? { nullable: true } : {}) },
    patch.prototype as object,
    property,
  );
  if (!isRemovable)
    Rule(
      'not_removable',
      'This cannot be null, because the field cannot be removed.',
      (value) => value !== null,
    )(patch.prototype as object, property);
}

/** Reduces a patch to the fields that were sent, because initializers and defaults belong to the resource. */
export function sentFields(patch: object, body: object): object {
  for (const field of Object.keys(patch))
    if (!Object.hasOwn(body, field)) Reflect.deleteProperty(patch, field);
  return patch;
}
