import { isDeepStrictEqual } from 'node:util';
import { Logger, RequestMethod, type Type } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, MODULE_PATH, PATH_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import type { RegisteredRoute } from '../operations/registered-routes.js';
import { declaredSelectionOf } from '../paging/selection.decorators.js';
import { type RegisteredOperation, metadataOf, operationsOf } from '../operations/registered-operation.js';
import { checkPatch, checkRequest } from '../validation/class-checks.js';
import { declaredFieldsOf } from '../validation/field-table.js';

/** Parameters in a path of Express 5: `:name` and `*name`. */
const IN_PATH = /[:*](\w+)/g;
/** Name of an undivided body, query or path in a message. */
const WHOLE: ReadonlyMap<unknown, string> = new Map([
  [RouteParamtypes.BODY, '@Body()'],
  [RouteParamtypes.QUERY, '@Query()'],
  [RouteParamtypes.PARAM, '@Param()'],
]);
/** Types that compilers emit for types without run-time members. */
const UNKNOWN: ReadonlySet<unknown> = new Set([Object, Function, Array]);

const logger = new Logger('Start');

/** Checks that no route hides a later one, because Express uses the first that matches. */
export function checkHidden(routes: readonly RegisteredRoute[], discovery: DiscoveryService): void {
  // Nest gives the registered function the handler's name.
  const operations = new Map(operationsOf(discovery).map((one) => [one.name, one]));
  const found = routes.flatMap((route) => {
    const operation = operations.get(route.handler.name);
    return operation ? [{ ...route, operation }] : [];
  });
  for (const [at, { method, path, operation, isAt }] of found.entries()) {
    const requests = samplesOf(path).filter(isAt);
    const methods = new Set([method, 'ALL', ...(method === 'HEAD' ? ['GET'] : [])]);
    const first = found.slice(0, at).find((one) => {
      const isOther = one.operation.name !== operation.name && methods.has(one.method);
      return (
        isOther && coversAllOf(one.operation, operation) && requests.length > 0 && requests.every(one.isAt)
      );
    });
    if (first)
      invalidDeclaration(
        `${operation.name}: ${method} ${path} is never reached, because ${first.method} ${first.path} of ${first.operation.name} ` +
          'is registered before it. Declare it, or import its module, first; or change one of the paths.',
      );
  }
}

/** Whether an operation does not pass requests for the host of another operation on to it. */
function coversAllOf(one: RegisteredOperation, other: RegisteredOperation): boolean {
  const host = metadataOf(one, HOST_METADATA);
  if (host !== undefined && !isDeepStrictEqual(host, metadataOf(other, HOST_METADATA))) return false;
  return one.parameters.every(({ kind }) => kind !== RouteParamtypes.NEXT);
}

/** Sample paths of a route, with and without its optional parts, whose parameter values appear in no other route. */
function samplesOf(path: string): string[] {
  const least = path.replaceAll(/\{[^{}]*\}/g, '');
  return [path.replaceAll(/[{}]/g, ''), least === path || least.includes('{') ? path : least].map((one) =>
    one.replaceAll(IN_PATH, (parameter) => (parameter.startsWith('*') ? '~a/~b' : '~a')),
  );
}

/** Checks that path parameters are in the path and are read, and that bodies, queries and paths are validated. */
export function checkParameters(operation: RegisteredOperation, modulePaths: readonly string[]): void {
  const { id, name, controller, handler, parameters } = operation;
  const paths = modulePaths.flatMap((module) =>
    pathsOf(controller).flatMap((prefix) => pathsOf(handler).map((path) => `${module}${prefix}/${path}`)),
  );
  const inPath = new Set(paths.flatMap((path) => [...path.matchAll(IN_PATH)].map(([, found]) => found)));
  const unread = new Set(inPath);
  for (const { index, kind, data, metatype, pipes = [] } of parameters) {
    const fields = metatype === undefined ? [] : [...declaredFieldsOf(metatype)];
    for (const { parameter } of metatype ? (declaredSelectionOf(metatype)?.filters ?? []) : [])
      if (!fields.includes(parameter))
        invalidDeclaration(
          `${metatype?.name}.${parameter}: @Filter() has no effect without a decorator of a field. Add one, such as @Text().`,
        );
    const isWhole = data === undefined || data === '';
    if (metatype && fields.length > 0 && isWhole && WHOLE.has(kind)) {
      checkRequest(metatype);
      if (kind === RouteParamtypes.BODY && metadataOf(operation, METHOD_METADATA) === RequestMethod.PATCH)
        checkPatch(metatype);
    }
    const isPath = kind === RouteParamtypes.PARAM;
    const read = isPath ? (isWhole ? fields : [data as string]) : [];
    for (const field of read) {
      unread.delete(field);
      if (!inPath.has(field))
        invalidDeclaration(
          `${name}: it reads the path parameter "${field}", which is not in its path ${paths.join(', ')}.`,
        );
    }
    // A module's decorator, the request, or a class without declared fields may read any of them.
    if (kind === 'custom' || kind === RouteParamtypes.REQUEST || (isPath && read.length === 0))
      unread.clear();
    const decorator = WHOLE.get(kind);
    if (!decorator || !isWhole || pipes.length > 0 || fields.length > 0) continue;
    if (id !== undefined && UNKNOWN.has(metatype))
      invalidDeclaration(
        `${name}: ${decorator}, its parameter ${index + 1}, is not validated, because its type is unknown at run time. ` +
          'Declare a class with decorators such as @Text() and @Int64(), and import it without "type"; or give the parameter a pipe.',
      );
    if (!isPath)
      logger.warn(
        `${name}: ${decorator} is not validated, because its type is not a class with declared fields. ` +
          'Declare a class with decorators such as @Text() and @Int64().',
      );
  }
  for (const parameter of unread)
    logger.warn(
      `${name}: nothing reads or validates the path parameter "${parameter}". Declare it in the class of a @Param().`,
    );
}

/** The paths that RouterModule assigns to a controller's modules; `` if there are none. */
export function modulePathsOf(
  controller: Type,
  discovery: DiscoveryService,
  modules: ModulesContainer,
): string[] {
  return discovery.getControllers().flatMap(({ metatype, host }) => {
    if (metatype !== controller || !host) return [];
    const path = Reflect.getMetadata(MODULE_PATH + modules.applicationId, host.metatype) as
      string | undefined;
    return [path === undefined ? '' : `${path}/`];
  });
}

function pathsOf(target: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, target) as string | string[]].flat();
}
