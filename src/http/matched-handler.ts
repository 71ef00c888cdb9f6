import type { ExecutionContext, Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { HandlerMetadata } from '../core/execution-context.js';
import { type DeclaredOperation, declaredOperationOf } from './adapter/declared-operation.js';
import { type Consumption, consumptionOf } from './body/consumes.decorator.js';
import { methodNameOf } from './adapter/handler-parameters.js';

/** The handler that a request has reached behind all global guards, and its declaration. */
export interface MatchedHandler {
  readonly handler: ReturnType<ExecutionContext['getHandler']>;
  readonly controller: Type;
  /** Undefined for a handler without `@Operation()`. */
  readonly operation: DeclaredOperation | undefined;
  readonly consumption: Consumption;
}

const ofHandler = new HandlerMetadata(([handler, target]): MatchedHandler => {
  const controller = target as Type;
  return {
    handler,
    controller,
    operation: declaredOperationOf(handler),
    consumption: consumptionOf(handler, controller, methodNameOf(handler, controller)),
  };
});

/** Notes the handler of a request, because Nest gives its execution context neither to the adapter nor to filters. */
export function noteMatchedHandler(
  context: ExecutionContext,
  request: Request,
  response: Response,
): MatchedHandler {
  const matched = ofHandler.of(context);
  request.matchedHandler = matched;
  const link = response.getHeader('Link');
  if (link !== undefined) request.linkOfGuards = String(link);
  return matched;
}
