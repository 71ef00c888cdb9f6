// @ts-expect-error class-transformer has no types for this file.
import * as insideStorage from 'class-transformer/cjs/storage.js';
import type { Type } from '@nestjs/common';
import type { ExposeOptions } from 'class-transformer';
import '../../core/patches/class-transformer.js';
import { FIELDS } from './define-field.js';

type Declared = ReadonlyMap<
  unknown,
  ReadonlyMap<string | undefined, { options?: object } | readonly { transformFn: object }[]>
>;

const { defaultMetadataStorage: storage } = insideStorage as {
  defaultMetadataStorage: Readonly<Record<string, Declared>>;
};
/**
 * The properties of a class that `@Expose({ name })` renames, each with its name, when parsing requests or serializing responses; an option
 * may limit it to one direction.
 */
export function renamedIn(
  type: Type,
  other: 'toClassOnly' | 'toPlainOnly',
): [property: string, name: string][] {
  const found: [string, string][] = [];
  for (let at: unknown = type; at; at = Object.getPrototypeOf(at))
    for (const [property, { options }] of (storage['_exposeMetadatas']?.get(at) ?? []) as Iterable<
      [string | undefined, { readonly options?: ExposeOptions }]
    >)
      if (
        property !== undefined &&
        options?.name !== undefined &&
        options.name !== property &&
        !options[other]
      )
        found.push([property, options.name]);
  return found;
}

/** The classes that `@Type()` assigns to a class's members. */
export function nestedIn(type: Type): unknown[] {
  const found: unknown[] = [];
  for (let at: unknown = type; at; at = Object.getPrototypeOf(at))
    for (const declared of storage['_typeMetadatas']?.get(at)?.values() ?? [])
      found.push((declared as { typeFunction?: () => unknown }).typeFunction?.());
  return found;
}

/** Whether a transformation, such as a field's, produces a property's value. */
export function isTransformed(type: object, property: string): boolean {
  return isDeclared('_transformMetadatas', type, property);
}

/** Whether a property's objects become instances of a class: by `@Type()` or a transformation. */
export function isInstantiated(type: object, property: string): boolean {
  return isDeclared('_typeMetadatas', type, property) || isTransformed(type, property);
}

function isDeclared(kind: string, type: object, property: string): boolean {
  for (let at: unknown = type; at; at = Object.getPrototypeOf(at))
    if (storage[kind]?.get(at)?.has(property)) return true;
  return false;
}

/** Whether only `defineField()` has added transformations to a class. */
export function isMadeOfFields(type: object): boolean {
  for (let at: unknown = type; at; at = Object.getPrototypeOf(at)) {
    if (
      (storage['_typeMetadatas']?.get(at)?.size ?? 0) + (storage['_excludeMetadatas']?.get(at)?.size ?? 0) >
      0
    )
      return false;
    for (const declared of storage['_transformMetadatas']?.get(at)?.values() ?? [])
      for (const { transformFn } of declared as readonly { transformFn: object }[])
        if (!FIELDS.has(transformFn)) return false;
    for (const [name, declared] of storage['_exposeMetadatas']?.get(at) ?? [])
      if (name === undefined || Object.keys((declared as { options?: object }).options ?? {}).length > 0)
        return false;
  }
  return true;
}
