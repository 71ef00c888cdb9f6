import { finished } from 'node:stream';
import { ForbiddenException, type HttpServer, StreamableFile } from '@nestjs/common';
import { destroyUnsentBody } from '@nestjs/core/helpers/destroy-unsent-body.js';
import { RouterResponseController } from '@nestjs/core/router/router-response-controller.js';
import { isStreamingBody, listenForStreamError } from '@nestjs/core/router/streaming-body.js';
import type { NextFunction, Request, Response } from 'express';
import { EmptyError, type Observable, fromEvent, isObservable, lastValueFrom, takeUntil } from 'rxjs';
import { JsonText } from '../../database/json-rows.js';
import { writeRefusal } from '../../errors/error.filter.js';
import { JSON_CONTENT_TYPE } from '../body/json-response.interceptor.js';
import { OperationContext } from './operation-context.js';
import type { OperationPlan, PlannedParameter } from './operation-plan.js';

/**
 * Runs one operation: the same guards, interceptors, pipes and handler that Nest would run, in the same order. Each step is
 * awaited directly; Nest connects the steps with rxjs, which costs more time.
 */
export class CompiledOperation {
  private readonly responses;

  constructor(
    private readonly plan: OperationPlan,
    private readonly adapter: HttpServer,
  ) {
    this.responses = new RouterResponseController(adapter);
  }

  /** Answers the request; what a step throws becomes an error response. The returned promise never rejects. */
  async run(request: Request, response: Response, next: NextFunction): Promise<void> {
    const { controller, handler, status } = this.plan;
    const context = new OperationContext(request, response, next, controller, handler);
    try {
      await this.guard(context);
      response.statusCode = status;
      const body = await this.around(context, 0);
      if (typeof body === 'object' && isStreamingBody(body))
        await this.responses.stream(body, response, request);
      else write(request, response, body, this.adapter);
      const { streamed } = context;
      // An interceptor may have answered something else that still reads from the stream. So the stream is destroyed only when
      // the response has ended.
      if (streamed !== undefined && streamed !== body) finished(response, () => destroyUnsentBody(streamed));
    } catch (error) {
      destroyUnsentBody(context.streamed);
      // EmptyError on a closed response: an Observable was given up because the client has disconnected, so no answer is
      // written.
      if (!(error instanceof EmptyError && response.closed)) writeRefusal(error, request, response);
    }
  }

  private async guard(context: OperationContext): Promise<void> {
    for (const guard of this.plan.guards) {
      const verdict = guard.canActivate(context);
      if (verdict === true) continue;
      if (!(await settled(verdict, context))) throw new ForbiddenException(FORBIDDEN_MESSAGE);
    }
  }

  private around(context: OperationContext, from: number): Promise<unknown> {
    const interceptor = this.plan.interceptors[from];
    return interceptor
      ? interceptor.around(context, () => this.around(context, from + 1))
      : this.handle(context);
  }

  private async handle(context: OperationContext): Promise<unknown> {
    const { instance, handler, parameters } = this.plan;
    const args: unknown[] = [];
    let piping: Promise<void>[] | undefined;
    for (const parameter of parameters) {
      if (parameter.metadata) (piping ??= []).push(this.pipe(parameter, context, args));
      else args[parameter.index] = parameter.valueIn(context);
    }
    // The pipes of all parameters start together, as in Nest. The first one that rejects decides the answer.
    if (piping) await (piping.length === 1 ? piping[0] : Promise.all(piping));
    const answer = await settled(handler.apply(instance, args), context);
    if (typeof answer === 'object' && !(answer instanceof JsonText)) hold(answer, context);
    return answer;
  }

  /** Runs the pipes on the value of one parameter and stores the result in `args`. */
  private async pipe(parameter: PlannedParameter, context: OperationContext, args: unknown[]): Promise<void> {
    const { index, metadata, valueIn } = parameter;
    let value = valueIn(context);
    if (isThenable(value)) value = await value;
    if (metadata)
      for (const pipe of this.plan.pipes) value = (await pipe.transform(value, metadata)) as unknown;
    args[index] = value;
  }
}

/** The message of the exception that Nest throws when a guard returns false. */
const FORBIDDEN_MESSAGE = 'Forbidden resource';

/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/**
 * Notes a streamed answer in the context and listens for its errors. A stream may fail while the interceptors still run, and an
 * `error` event without a listener would end the process.
 */
function hold(answer: unknown, context: OperationContext): void {
  if (!(answer instanceof StreamableFile || isStreamingBody(answer))) return;
  listenForStreamError(answer);
  context.streamed = answer;
}

/** The value that a guard or handler returns: directly, as a promise, as an Observable, or as a promise of an Observable. */
async function settled(answer: unknown, { response }: OperationContext): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastOf(value, response) : value;
}

/**
 * The last value of an Observable. When the client disconnects, the subscription ends; without a value so far, the promise then
 * rejects with EmptyError.
 */
function lastOf(values: Observable<unknown>, response: Response): Promise<unknown> {
  if (response.closed) return Promise.reject(new EmptyError());
  return lastValueFrom(values.pipe(takeUntil(fromEvent(response, 'close'))));
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/**
 * Sends the answer as Express does. Two kinds are written without Express's `send()`, which would change nothing of them: an
 * empty 304, and JSON in answer to a request without conditional header fields.
 */
function write(request: Request, response: Response, body: unknown, adapter: HttpServer): void {
  // ConditionalGetInterceptor has already removed the headers that a 304 must not have.
  if (body === undefined && response.statusCode === 304) {
    response.end();
  } else if (typeof body === 'string' && isPlainJson(request, response)) {
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  } else {
    adapter.reply(response, body);
  }
}

/** Whether Express would send the body as it is: with the same status, the same headers, and in full. */
function isPlainJson({ headers }: Request, response: Response): boolean {
  return (
    !BODILESS.has(response.statusCode) &&
    response.getHeader('Content-Type') === JSON_CONTENT_TYPE &&
    !response.hasHeader('Transfer-Encoding') &&
    !('if-none-match' in headers || 'if-modified-since' in headers)
  );
}
