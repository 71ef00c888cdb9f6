import type { ExecutionContext, Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { HandlerMetadata } from '../core/handler-metadata.js';
import { RequestSlot } from '../core/request-slot.js';
import { type DeclaredOperation, declaredOperationOf } from './adapter/declared-operation.js';
import { type Consumption, consumptionOf } from './body/consumes.decorator.js';
import { methodNameOf } from './adapter/handler-parameters.js';

/** The handler that a request has reached behind all global guards, and what is declared of it. */
export interface MatchedHandler {
  readonly handler: ReturnType<ExecutionContext['getHandler']>;
  readonly controller: Type;
  /** Undefined for a handler without `@Operation()`. */
  readonly operation: DeclaredOperation | undefined;
  readonly consumption: Consumption;
}

const MATCHED = new RequestSlot<MatchedHandler>();
const LINK_OF_GUARDS = new RequestSlot<string>();

const ofHandler = new HandlerMetadata(([handler, target]): MatchedHandler => {
  const controller = target as Type;
  return {
    handler,
    controller,
    operation: declaredOperationOf(handler),
    consumption: consumptionOf(handler, controller, methodNameOf(handler, controller)),
  };
});

/** Notes which handler a request has reached, for what answers it: Nest gives neither adapter nor filters its execution context. */
export function noteMatchedHandler(context: ExecutionContext): MatchedHandler {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const matched = ofHandler.of(context);
  MATCHED.set(request, matched);
  const link = http.getResponse<Response>().getHeader('Link');
  if (link !== undefined) LINK_OF_GUARDS.set(request, String(link));
  return matched;
}

/** The handler that a request has reached; undefined for one that was refused before. */
export function matchedHandlerOf(request: Request): MatchedHandler | undefined {
  return MATCHED.get(request);
}

/** The `Link` that guards have set, such as that of a deprecation; undefined when they have set none. */
export function linkOfGuards(request: Request): string | undefined {
  return LINK_OF_GUARDS.get(request);
}
