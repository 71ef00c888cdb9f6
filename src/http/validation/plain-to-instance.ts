import type { ClassTransformOptions } from 'class-transformer';
// @ts-expect-error class-transformer has no types beside this file.
import * as insideExecutor from 'class-transformer/cjs/TransformOperationExecutor.js';
// @ts-expect-error Nor beside this one.
import * as insideStorage from 'class-transformer/cjs/storage.js';
import { declaredFieldsOf } from './declared-fields.js';
import { FIELDS } from './define-field.js';

type Class = abstract new (...args: never[]) => object;

interface Executor {
  transform(source: unknown, value: unknown, type: unknown, ...others: unknown[]): unknown;
  /** The members of an object that are to be transformed; reads nothing of it but their names. */
  getKeys(type: unknown, object: object, isMap: unknown): string[];
}
type Declared = ReadonlyMap<
  unknown,
  ReadonlyMap<string | undefined, { options?: { name?: string } } | readonly { transformFn: object }[]>
>;

const { TransformOperationExecutor } = insideExecutor as {
  TransformOperationExecutor: new (type: number, options: ClassTransformOptions) => Executor;
};
const { defaultMetadataStorage: storage } = insideStorage as {
  defaultMetadataStorage: Readonly<Record<string, Declared>> & {
    findTransformMetadatas(type: Class, name: string, kind: number): readonly { transformFn: object }[];
  };
};
const DECLARED = ['_typeMetadatas', '_transformMetadatas', '_exposeMetadatas', '_excludeMetadatas'];
const PLAIN_TO_CLASS = 0;
/** class-transformer compares each name of an object with all others: it is given so many at once. */
const AT_ONCE = 64;

/** Makes the time of class-transformer linear in the members of an object, whoever calls it. */
const executors = TransformOperationExecutor.prototype as Executor;
const getKeys: (this: Executor, ...args: Parameters<Executor['getKeys']>) => string[] = Reflect.get(
  executors,
  'getKeys',
);
executors.getKeys = function (type, object, isMap) {
  const names = object instanceof Map ? [] : Object.keys(object);
  if (names.length <= AT_ONCE) return getKeys.call(this, type, object, isMap);
  const found = new Set<string>();
  for (let at = 0; at < names.length; at += AT_ONCE)
    for (const name of getKeys.call(this, type, named(names.slice(at, at + AT_ONCE)), isMap)) found.add(name);
  return [...found];
};

/** Transforms what classes declare. Everything else stays as it was sent: it is neither walked through nor copied. */
class DeclaredExecutor extends TransformOperationExecutor {
  /** The members of an object that its class does not declare. */
  private readonly undeclared = new Map<unknown, string[]>();

  override transform(...args: Parameters<Executor['transform']>): unknown {
    const [, value, type, , , level] = args;
    if (level !== undefined && type === undefined && (Array.isArray(value) || isPlainObject(value)))
      return value;
    const made = super.transform(...args) as Record<string, unknown>;
    // The rules are to find them.
    for (const name of this.undeclared.get(value) ?? [])
      if (Object.hasOwn(made, name) || !(name in made))
        made[name] = (value as Readonly<Record<string, unknown>>)[name];
    return made;
  }

  override getKeys(type: unknown, object: object, isMap: unknown): string[] {
    const names = Object.keys(object);
    const declared = typeof type === 'function' && !isMap ? namesOf(type as Class) : undefined;
    const undeclared = declared ? names.filter((name) => !declared.has(name)) : [];
    const [first] = undeclared;
    if (!declared || first === undefined) return super.getKeys(type, object, isMap);
    // A class may leave out whatever it does not expose.
    const isTaken = super.getKeys(type, named([first]), isMap).includes(first);
    if (isTaken) this.undeclared.set(object, undeclared);
    return super.getKeys(type, named(names.filter((name) => declared.has(name))), isMap);
  }
}

/** As class-transformer's function, but its time is linear in the members of the value. */
export function plainToInstance(type: Class, plain: unknown, options?: ClassTransformOptions): unknown {
  const executor = new DeclaredExecutor(PLAIN_TO_CLASS, { exposeUnsetFields: true, ...options });
  return executor.transform(undefined, plain, type);
}

/** Takes the place of an object that no kind of field reads. */
const UNREADABLE = Symbol('unreadable');

/** An object without the values that their fields cannot read, for what walks through all of it. */
export function withoutUnreadable(type: Class, plain: object): object {
  const unreadable = Object.entries(plain).filter(
    ([name, value]) => typeof value === 'object' && value !== null && isUnreadable(type, name, value),
  );
  if (unreadable.length === 0) return plain;
  return { ...plain, ...Object.fromEntries(unreadable.map(([name]) => [name, UNREADABLE])) };
}

function isUnreadable(type: Class, name: string, value: unknown): boolean {
  const transformations = storage.findTransformMetadatas(type, name, PLAIN_TO_CLASS);
  const field = transformations.map(({ transformFn }) => FIELDS.get(transformFn)).find(Boolean);
  return field !== undefined && !field.isReadable(value);
}

/** Whether only `defineField()` has declared how class-transformer makes an instance of a class. */
export function isMadeOfFields(type: Class): boolean {
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

const known = new WeakMap<Class, ReadonlySet<string>>();

/** The names of the members that any decorator declares; undefined for a class without rules. */
function namesOf(type: Class): ReadonlySet<string> | undefined {
  const ruled = declaredFieldsOf(type);
  if (ruled.size === 0) return undefined;
  let names = known.get(type);
  if (!names) {
    const found = new Set(ruled);
    for (let at: unknown = type; at; at = Object.getPrototypeOf(at))
      for (const kind of DECLARED)
        for (const [name, declared] of storage[kind]?.get(at) ?? [])
          for (const one of [name, 'options' in declared ? declared.options?.name : undefined])
            if (one !== undefined) found.add(one);
    known.set(type, (names = found));
  }
  return names;
}

function named(names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** Whether it is an object of no class. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
