// @ts-expect-error class-transformer has no types for this file.
import * as inside from 'class-transformer/cjs/TransformOperationExecutor.js';
import { Untransformed } from './untransformed.js';

interface Executor {
  transform(source: unknown, value: unknown, ...rest: unknown[]): unknown;
  /** The members of an object to transform; uses only their names. */
  getKeys(type: unknown, object: object, isMap: unknown): string[];
}

const { TransformOperationExecutor } = inside as { TransformOperationExecutor: { prototype: Executor } };
/** class-transformer compares each name of an object with all others, so it receives batches of this size. */
const AT_ONCE = 64;

/** Makes class-transformer's time linear in the members of an object, for every caller. */
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

/** Skips an Untransformed value. */
const transform: (this: Executor, ...args: Parameters<Executor['transform']>) => unknown = Reflect.get(
  executors,
  'transform',
);
executors.transform = function (source, value, ...rest) {
  return value instanceof Untransformed ? value : transform.call(this, source, value, ...rest);
};
