import { RequestMethod } from '@nestjs/common';
import { VERSION_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { DECORATORS } from '@nestjs/swagger';
import { declaredScopes } from '../../auth/clients/scopes.js';
import { PUBLIC_ROUTE, REQUIRED_SCOPES } from '../../auth/auth.decorators.js';
import { CACHED } from '../caching/cached.decorator.js';
import { DEPRECATION, type Deprecation } from '../deprecation/deprecated.decorator.js';
import { declaredOperationOf } from '../adapter/declared-operation.js';
import { leavesResponse } from '../adapter/handler-parameters.js';
import { consumptionOf, takes } from '../body/consumes.decorator.js';
import { IDEMPOTENT } from '../idempotency/idempotent.decorator.js';
import { type CheckedHandler, type Findings, declaredOf } from './checked-handlers.js';

/** Methods that change nothing (RFC 9110 section 9.2.1), so that a client may repeat them anyway. */
const SAFE = new Set([RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS]);

/** The security scheme that the documents declare. */
const SCHEMES = new Set(['bearer']);

/** Checks what decorators declare of each operation, and in production also that no other handler is open by mistake. */
export function checkOperations(
  handlers: readonly CheckedHandler[],
  { faults, warnings }: Findings,
  isProduction: boolean,
): void {
  const scopes = new Set(declaredScopes().map(({ name }) => name));
  for (const one of handlers) {
    const { name, handler, method } = one;
    const fault = (text: string) => faults.push(`${name}: ${text}`);
    const warning = (text: string) => warnings.push(`${name}: ${text}`);
    if (Reflect.hasMetadata(CACHED, handler) && method !== RequestMethod.GET)
      fault('@Cached() works for GET alone. Remove it, or answer GET.');
    const consumption = consumptionOf(handler, one.controller, one.handlerName);
    if (Reflect.hasMetadata(IDEMPOTENT, handler)) {
      // A request is told from another one by its body, which therefore has to be read before.
      if (!consumption.isRead)
        fault(
          `it is @Idempotent(), but its body of ${consumption.types.join(' or ')} is not read before it runs. Remove one of them.`,
        );
      if (SAFE.has(method)) fault('@Idempotent() is for operations that change something. Remove it.');
      else if (writesResponse(one))
        fault('@Idempotent() keeps what the handler answers. Return it, with @Res({ passthrough: true }).');
    }
    const required = declaredOf(REQUIRED_SCOPES, one) as string[] | undefined;
    for (const scope of required ?? [])
      if (!scopes.has(scope)) fault(`no key can hold the scope "${scope}". Declare it with defineScopes().`);
    const isOperation = declaredOperationOf(handler) !== undefined;
    if (!required && declaredOf(PUBLIC_ROUTE, one) !== true && (isOperation || !SAFE.has(method)))
      (isOperation || !isProduction ? warning : fault)(
        'every valid key may call it. Add @RequireScopes(…), without an argument to say so, or @Public().',
      );
    for (const type of (declaredOf(DECORATORS.API_CONSUMES, one) ?? []) as string[])
      if (!consumption.types.includes(type.toLowerCase()) && !takes(consumption, type))
        fault(
          `the document promises to read ${type}, which is answered 415. Replace @ApiConsumes() by @Consumes().`,
        );
    for (const requirement of (declaredOf(DECORATORS.API_SECURITY, one) ?? []) as object[])
      for (const scheme of Object.keys(requirement))
        if (!SCHEMES.has(scheme))
          warning(`the document declares no security scheme "${scheme}"; it has ${[...SCHEMES].join(', ')}.`);
    const deprecation = Reflect.getMetadata(DEPRECATION, handler) as Deprecation | undefined;
    if (deprecation && deprecation.sunset < deprecation.since)
      fault('@Deprecated() has a sunset before its since. Turn them round.');
  }
  checkIds(handlers, { faults, warnings });
}

/** The name of an operation in the document, which generated clients take for the name of a function. */
function checkIds(handlers: readonly CheckedHandler[], { faults, warnings }: Findings): void {
  const byId = new Map<string, CheckedHandler>();
  for (const one of handlers) {
    const declared = Reflect.getMetadata(DECORATORS.API_OPERATION, one.handler) as
      { operationId?: string } | undefined;
    const id = declared?.operationId;
    if (id === undefined) continue;
    // Each version of the API has a document of its own.
    const places = [declaredOf(VERSION_METADATA, one)].flat().map((version) => `${String(version)} ${id}`);
    const other = places.map((place) => byId.get(place)).find((found) => found !== undefined);
    for (const place of places) byId.set(place, other ?? one);
    if (!other) continue;
    const text = `${one.name}: ${other.name} has the operation id "${id}", too. Give one of them another.`;
    // Controllers that inherit one handler cannot name it differently, and each may be right.
    (other.handler === one.handler ? warnings : faults).push(text);
  }
}

function writesResponse({ controller, handlerName, parameters }: CheckedHandler): boolean {
  const isGiven = parameters.some(({ kind }) => kind === RouteParamtypes.RESPONSE);
  return isGiven && !leavesResponse(controller, handlerName);
}
