// @ts-expect-error class-transformer has no types beside this file.
import * as insideExecutor from 'class-transformer/cjs/TransformOperationExecutor.js';
// @ts-expect-error Nor beside this one.
import * as insideStorage from 'class-transformer/cjs/storage.js';
import type { Type } from '@nestjs/common';
import type { ExposeOptions } from 'class-transformer';
import { JsonText } from '../../database/json-rows.js';
import { FIELDS } from './define-field.js';

interface Executor {
  transform(source: unknown, value: unknown, ...rest: unknown[]): unknown;
  /** The members of an object that are to be transformed; reads nothing of it but their names. */
  getKeys(type: unknown, object: object, isMap: unknown): string[];
}
type Declared = ReadonlyMap<
  unknown,
  ReadonlyMap<string | undefined, { options?: object } | readonly { transformFn: object }[]>
>;

const { TransformOperationExecutor } = insideExecutor as {
  TransformOperationExecutor: { prototype: Executor };
};
const { defaultMetadataStorage: storage } = insideStorage as {
  defaultMetadataStorage: Readonly<Record<string, Declared>>;
};
/** class-transformer compares each name of an object with all others: it is given so many at once. */
const AT_ONCE = 64;

/** Makes the time of class-transformer linear in the members of an object, for every caller. */
const executors = TransformOperationExecutor.prototype;
const getKeys: (this: Executor, ...args: Parameters<Executor['getKeys']>) => string[] = Reflect.get(
  executors,
  'getKeys',
);
executors.getKeys = function (type, object, isMap) {
  const names = object instanceof Map ? [] : Object.keys(object);
  if (names.length <= AT_ONCE) return getKeys.call(this, type, object, isMap);
  const found = new Set<string>();
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = Object.fromEntries(names.slice(at, at + AT_ONCE).map((name) => [name, true]));
    for (const name of getKeys.call(this, type, some, isMap)) found.add(name);
  }
  return [...found];
};

/** Leaves a JsonText, which is a whole representation, as it is: to ClassSerializerInterceptor it would be an object. */
const transform: (this: Executor, ...args: Parameters<Executor['transform']>) => unknown = Reflect.get(
  executors,
  'transform',
);
executors.transform = function (source, value, ...rest) {
  return value instanceof JsonText ? value : transform.call(this, source, value, ...rest);
};

/**
 * The properties of a class that `@Expose({ name })` renames, each with its name: in JSON that is read, or in what is made for a
 * response, unless it is for the other direction alone.
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

/** The classes that `@Type()` makes of the members of a class. */
export function nestedIn(type: Type): unknown[] {
  const found: unknown[] = [];
  for (let at: unknown = type; at; at = Object.getPrototypeOf(at))
    for (const declared of storage['_typeMetadatas']?.get(at)?.values() ?? [])
      found.push((declared as { typeFunction?: () => unknown }).typeFunction?.());
  return found;
}

/** Whether a transformation, which may be that of a field, makes the value of a property. */
export function isTransformed(type: object, property: string): boolean {
  for (let at: unknown = type; at; at = Object.getPrototypeOf(at))
    if (storage['_transformMetadatas']?.get(at)?.has(property)) return true;
  return false;
}

/** Whether only `defineField()` has declared how class-transformer makes an instance of a class. */
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
