import type { Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { declaredOperationOf } from '../adapter/declared-operation.js';
import { declaredFieldsOf } from '../validation/declared-fields.js';
import type { CheckedHandler, Findings } from './checked-handlers.js';

/** Parameters in a path of Express 5: `:name` and `*name`. */
const IN_PATH = /[:*](\w+)/g;

/** What a whole body or query is called in a message. */
const WHOLE: ReadonlyMap<unknown, string> = new Map([
  [RouteParamtypes.BODY, '@Body()'],
  [RouteParamtypes.QUERY, '@Query()'],
  [RouteParamtypes.PARAM, '@Param()'],
]);

/** What compilers write for types that do not exist at run time, or of whose members nothing is known there. */
const UNKNOWN: ReadonlySet<unknown> = new Set([Object, Function, Array]);

/** Checks path parameters against those of the path, and that bodies and queries are validated at all. */
export function checkParameters(handlers: readonly CheckedHandler[], findings: Findings): void {
  for (const handler of handlers) {
    checkPath(handler, findings);
    checkClasses(handler, findings);
  }
}

function checkPath({ name, paths, parameters }: CheckedHandler, { faults, warnings }: Findings): void {
  const inPath = new Set(paths.flatMap((path) => [...path.matchAll(IN_PATH)].map(([, found = '']) => found)));
  const path = paths.join(', ');
  const read = new Set<string>();
  let readsAll = false;
  for (const { kind, data, metatype } of parameters) {
    // A decorator of somebody's own, or the request, may read any of them.
    if (kind === 'custom' || kind === RouteParamtypes.REQUEST) readsAll = true;
    if (kind !== RouteParamtypes.PARAM) continue;
    const fields = typeof data === 'string' && data !== '' ? [data] : fieldsOf(metatype);
    if (!fields) readsAll = true;
    for (const field of fields ?? []) {
      read.add(field);
      if (!inPath.has(field))
        faults.push(`${name}: it reads the path parameter "${field}", which is not in its path ${path}.`);
    }
  }
  for (const parameter of inPath)
    if (!read.has(parameter) && !readsAll)
      warnings.push(
        `${name}: nothing reads or validates the path parameter "${parameter}". Declare it in the class of a @Param().`,
      );
}

function checkClasses({ name, handler, parameters }: CheckedHandler, { faults, warnings }: Findings): void {
  for (const { index, kind, data, metatype, pipes = [] } of parameters) {
    const decorator = WHOLE.get(kind);
    const isWhole = data === undefined || data === '';
    if (!decorator || !isWhole || pipes.length > 0 || fieldsOf(metatype)) continue;
    if (declaredOperationOf(handler) && UNKNOWN.has(metatype))
      faults.push(
        `${name}: ${decorator}, its parameter ${index + 1}, is not validated, because its type is not known at run time. ` +
          'Declare a class with decorators such as @Text() and @Int64(), and import it without "type"; or give the parameter a pipe.',
      );
    else if (kind !== RouteParamtypes.PARAM)
      warnings.push(
        `${name}: ${decorator} is not validated, because its type is no class with declared fields. ` +
          'Declare a class with decorators such as @Text() and @Int64().',
      );
  }
}

/** The fields that a class declares; undefined for what is no class of declared fields, such as an interface. */
function fieldsOf(metatype: Type | undefined): readonly string[] | undefined {
  const fields = metatype === undefined ? [] : [...declaredFieldsOf(metatype)];
  return fields.length === 0 ? undefined : fields;
}
