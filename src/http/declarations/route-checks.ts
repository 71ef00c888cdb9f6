import { Logger, RequestMethod, Scope } from '@nestjs/common';
import { HOST_METADATA, METHOD_METADATA, SSE_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { DiscoveryService } from '@nestjs/core';
import type { InstanceWrapper, PropertyMetadata } from '@nestjs/core/injector/instance-wrapper.js';
import { DECORATORS } from '@nestjs/swagger';
import { invalidDeclaration } from '../../core/declaration-errors.js';
import { openThrottleError } from '../../throttling/throttle-decorators.js';
import { leavesResponseToHandler } from '../operations/handler-parameters.js';
import { type RegisteredOperation, metadataOf, operationsOf } from '../operations/registered-operation.js';
import { knowModels } from '../operations/declared-shape.js';
import { checkEnhancers } from './enhancer-checks.js';
import { checkResponseNames } from '../validation/class-checks.js';

/** Methods that change nothing (RFC 9110 section 9.2.1), so that clients can always repeat them. */
const SAFE = new Set([RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS]);

const logger = new Logger('Start');

/** Checks that the decorators of an operation are compatible. */
export function checkOperation(operation: RegisteredOperation, isProduction: boolean): void {
  const { name, handler, controller, consumption, isPublic } = operation;
  const error = (text: string) => invalidDeclaration(`${name}: ${text}`);
  const method = metadataOf(operation, METHOD_METADATA) as RequestMethod;
  if (operation.isCached && method !== RequestMethod.GET)
    error('@Cached() works only for GET. Remove it, or use @Get().');
  if (operation.isCached && metadataOf(operation, HOST_METADATA) !== undefined)
    error(
      '@Cached() uses only the path and query as the key, but its controller also depends on the host. Remove one of them.',
    );
  const dto = operation.response?.dto;
  knowModels(dto, handler, controller);
  if (dto) checkResponseNames(dto);
  if (dto && Reflect.hasMetadata(SSE_METADATA, handler))
    error(
      `it is @Sse(), whose events are not reduced to the members that ${dto.name} declares. Declare contentType: 'text/event-stream' instead of a type.`,
    );
  const openThrottle = isPublic ? openThrottleError((key) => metadataOf(operation, key)) : undefined;
  if (openThrottle !== undefined) error(openThrottle);
  if (operation.isIdempotent) {
    if (SAFE.has(method)) error('@Idempotent() is for operations that change something. Remove it.');
    if (isPublic)
      error(
        '@Idempotent() stores the response for its client, and a @Public() operation has none. Remove one of them.',
      );
    // Requests with the same key are distinguished by their bodies.
    if (!consumption.isRead)
      error(
        `it is @Idempotent(), but its body of ${consumption.types.join(' or ')} is not read before it runs. Remove one of them.`,
      );
    const injectsResponse = operation.parameters.some(({ kind }) => kind === RouteParamtypes.RESPONSE);
    if (injectsResponse && !leavesResponseToHandler(controller, operation.method))
      error('@Idempotent() stores the result of the handler. Return it, with @Res({ passthrough: true }).');
  }
  const isOperation = operation.id !== undefined;
  if (!operation.scopes && !isPublic && (isOperation || !SAFE.has(method))) {
    const text =
      'every valid key may call it. Add @RequireScopes(…), without an argument if that is intended, or @Public().';
    if (isProduction && !isOperation) error(text);
    logger.warn(`${name}: ${text}`);
  }
}

/** Checks that no controller with stored responses depends on its caller through a request-scoped provider. */
export function checkStored(discovery: DiscoveryService): void {
  const ofRequests = discovery.getControllers().filter((controller) => {
    const { scope } = controller;
    const ofConstructor = controller.getCtorMetadata() as InstanceWrapper[] | undefined;
    const ofProperties = controller.getPropertiesMetadata() as PropertyMetadata[] | undefined;
    const injected = [...(ofConstructor ?? []), ...(ofProperties ?? []).map(({ wrapper }) => wrapper)];
    // Not isDependencyTreeStatic() of the controller: that includes its guards and interceptors, which run for each request anyway.
    return scope === Scope.REQUEST || injected.some((provider) => !provider.isDependencyTreeStatic());
  });
  for (const operation of operationsOf(discovery)) {
    const { name, controller, isCached } = operation;
    const isOfRequest = ofRequests.some(({ metatype }) => metatype === controller);
    if (isOfRequest && isCached)
      invalidDeclaration(
        `${name}: it is @Cached(), but its controller is created for each request, on which the response may depend. Remove @Cached().`,
      );
    checkEnhancers(operation, isOfRequest);
  }
}

/** Checks the operation ids of each API version, which generated clients use as function names. */
export function checkIds(operations: readonly RegisteredOperation[]): void {
  const byId = new Map<string, RegisteredOperation>();
  for (const one of operations) {
    const documented = Reflect.getMetadata(DECORATORS.API_OPERATION, one.handler) as
      { operationId?: string } | undefined;
    const id = documented?.operationId;
    if (id === undefined) continue;
    for (const version of [metadataOf(one, VERSION_METADATA)].flat()) {
      const key = `${String(version)} ${id}`;
      const other = byId.get(key);
      byId.set(key, one);
      if (!other) continue;
      const text = `${one.name}: ${other.name} also has the operation id "${id}". Rename one of them.`;
      // Controllers that inherit a handler cannot give it different ids, and each may be right.
      if (other.handler !== one.handler) invalidDeclaration(text);
      logger.warn(text);
    }
  }
}
