import { Logger, RequestMethod, Scope } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, SSE_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { DiscoveryService } from '@nestjs/core';
import type { InstanceWrapper, PropertyMetadata } from '@nestjs/core/injector/instance-wrapper.js';
import { DECORATORS } from '@nestjs/swagger';
import { PUBLIC_ROUTE, REQUIRED_SCOPES } from '../../auth/auth.decorators.js';
import { declaredScopes } from '../../auth/scopes.js';
import { declarationFault } from '../../core/declaration-faults.js';
import { openThrottleFault } from '../../throttling/throttle-decorators.js';
import { declaredOperationOf } from '../operations/declared-operation.js';
import { type HandlerParameter, leavesResponse, parametersOf } from '../operations/handler-parameters.js';
import { consumptionOf } from '../body/consumes.decorator.js';
import { CACHED } from '../caching/cached.decorator.js';
import { knowModels } from '../operations/declared-shape.js';
import { IDEMPOTENT } from '../idempotency/idempotent.decorator.js';
import { checkEnhancers } from './enhancer-checks.js';
import { type RouteHandler, routeHandlersOf } from './operation-record.js';
import { checkResponseNames } from '../validation/class-checks.js';

/** Methods that change nothing (RFC 9110 section 9.2.1), so that a client may repeat them anyway. */
const SAFE = new Set([RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS]);
/** A handler with the metadata for the checks. */
export interface CheckedHandler extends RouteHandler {
  readonly parameters: readonly HandlerParameter[];
  /** Metadata of the handler, or of its controller where the handler has none. */
  readonly declared: (key: string) => unknown;
}

const logger = new Logger('Start');

/** Each handler once: a controller may be in several modules. */
export function checkedHandlersOf(discovery: DiscoveryService): CheckedHandler[] {
  const all = routeHandlersOf(discovery);
  const isFirst = ({ controller, method }: RouteHandler, at: number): boolean =>
    at === all.findIndex((one) => one.controller === controller && one.method === method);
  return all.filter(isFirst).map((one) => ({
    ...one,
    parameters: parametersOf(one.controller, one.method),
    declared: (key) => Reflect.getMetadata(key, one.handler) ?? Reflect.getMetadata(key, one.controller),
  }));
}

/** Checks the decorators of a handler with one another. */
export function checkOperation(
  { name, controller, method: handlerName, handler, parameters, declared }: CheckedHandler,
  isProduction: boolean,
): void {
  const fault = (text: string) => declarationFault(`${name}: ${text}`);
  const method = declared(METHOD_METADATA) as RequestMethod;
  if (Reflect.hasMetadata(CACHED, handler) && method !== RequestMethod.GET)
    fault('@Cached() works only for GET. Remove it, or use @Get().');
  if (Reflect.hasMetadata(CACHED, handler) && declared(HOST_METADATA) !== undefined)
    fault(
      'it is @Cached() by its path and query, but its controller depends on the host, too. Remove one of them.',
    );
  const { shownAs } = declaredOperationOf(handler) ?? {};
  knowModels(shownAs, handler, controller);
  if (shownAs) checkResponseNames(shownAs);
  if (shownAs && Reflect.hasMetadata(SSE_METADATA, handler))
    fault(
      `it is @Sse(), whose events are not reduced to what ${shownAs.name} declares. Declare contentType: 'text/event-stream' instead of a type.`,
    );
  const openThrottle = declared(PUBLIC_ROUTE) === true ? openThrottleFault(declared) : undefined;
  if (openThrottle !== undefined) fault(openThrottle);
  const consumption = consumptionOf(handler, controller, handlerName);
  if (Reflect.hasMetadata(IDEMPOTENT, handler)) {
    if (SAFE.has(method)) fault('@Idempotent() is for operations that change something. Remove it.');
    if (declared(PUBLIC_ROUTE) === true)
      fault(
        '@Idempotent() stores the response for its client, and a @Public() operation has none. Remove one of them.',
      );
    // Requests with one key are distinguished by their bodies.
    if (!consumption.isRead)
      fault(
        `it is @Idempotent(), but its body of ${consumption.types.join(' or ')} is not read before it runs. Remove one of them.`,
      );
    const takesResponse = parameters.some(({ kind }) => kind === RouteParamtypes.RESPONSE);
    if (takesResponse && !leavesResponse(controller, handlerName))
      fault('@Idempotent() stores the result of the handler. Return it, with @Res({ passthrough: true }).');
  }
  const scopes = declared(REQUIRED_SCOPES) as readonly string[] | undefined;
  const unknown = scopes?.find((scope) => declaredScopes().every((one) => one.name !== scope));
  if (unknown !== undefined) fault(`no key can hold the scope "${unknown}". Declare it with defineScopes().`);
  const isOperation = declaredOperationOf(handler) !== undefined;
  if (!scopes && declared(PUBLIC_ROUTE) !== true && (isOperation || !SAFE.has(method))) {
    const text =
      'every valid key may call it. Add @RequireScopes(…), without an argument to say so, or @Public().';
    if (isProduction && !isOperation) fault(text);
    logger.warn(`${name}: ${text}`);
  }
}

/** Checks that no controller with a stored response knows its caller, by a provider that is made for each request. */
export function checkStored(discovery: DiscoveryService): void {
  const ofRequests = discovery.getControllers().filter((controller) => {
    const { scope } = controller;
    const ofConstructor = controller.getCtorMetadata() as InstanceWrapper[] | undefined;
    const ofProperties = controller.getPropertiesMetadata() as PropertyMetadata[] | undefined;
    const injected = [...(ofConstructor ?? []), ...(ofProperties ?? []).map(({ wrapper }) => wrapper)];
    // Not isDependencyTreeStatic() of the controller: that includes its guards and interceptors, which run for each request anyway.
    return scope === Scope.REQUEST || injected.some((provider) => !provider.isDependencyTreeStatic());
  });
  for (const checked of checkedHandlersOf(discovery)) {
    const { name, controller, handler, parameters } = checked;
    const isOfRequest = ofRequests.some(({ metatype }) => metatype === controller);
    if (isOfRequest && Reflect.hasMetadata(CACHED, handler))
      declarationFault(
        `${name}: it is @Cached(), but its controller is made for each request, on which the response may depend. Remove @Cached().`,
      );
    checkEnhancers(checked, parameters, isOfRequest);
  }
}

/** Checks the operation ids of each version of the API, which generated clients take for names of functions. */
export function checkIds(handlers: readonly CheckedHandler[]): void {
  const byId = new Map<string, CheckedHandler>();
  for (const one of handlers) {
    const operation = Reflect.getMetadata(DECORATORS.API_OPERATION, one.handler) as
      { operationId?: string } | undefined;
    const id = operation?.operationId;
    if (id === undefined) continue;
    for (const version of [one.declared(VERSION_METADATA)].flat()) {
      const place = `${String(version)} ${id}`;
      const other = byId.get(place);
      byId.set(place, one);
      if (!other) continue;
      const text = `${one.name}: ${other.name} has the operation id "${id}", too. Give one of them another.`;
      // Controllers that inherit one handler cannot name it differently, and each may be right.
      if (other.handler !== one.handler) declarationFault(text);
      logger.warn(text);
    }
  }
}
