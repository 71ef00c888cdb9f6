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
 * Runs the chain around one operation: the same guards, interceptors, pipes and handler as Nest, in the same order, awaited
 * one after the other instead of by way of rxjs.
 */
export class CompiledOperation {
  private readonly responses;

  constructor(
    private readonly plan: OperationPlan,
    private readonly adapter: HttpServer,
  ) {
    this.responses = new RouterResponseController(adapter);
  }

  /** Answers the request, whatever happens. Never rejects. */
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
      // What an interceptor answers in place of a stream may still read from it.
      if (streamed !== undefined && streamed !== body) finished(response, () => destroyUnsentBody(streamed));
    } catch (error) {
      destroyUnsentBody(context.streamed);
      // Nobody is there to be told that an Observable was given up because nobody was there.
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
    // Pipes of all parameters start together, as Nest's do; the first that refuses is the answer.
    if (piping) await (piping.length === 1 ? piping[0] : Promise.all(piping));
    const answer = await settled(handler.apply(instance, args), context);
    if (typeof answer === 'object' && !(answer instanceof JsonText)) hold(answer, context);
    return answer;
  }

  /** Puts the value of a parameter into the arguments when it has passed the pipes. */
  private async pipe(parameter: PlannedParameter, context: OperationContext, args: unknown[]): Promise<void> {
    const { index, metadata, valueIn } = parameter;
    let value = valueIn(context);
    if (isThenable(value)) value = await value;
    if (metadata)
      for (const pipe of this.plan.pipes) value = (await pipe.transform(value, metadata)) as unknown;
    args[index] = value;
  }
}

/** What Nest says for a guard that answers false. */
const FORBIDDEN_MESSAGE = 'Forbidden resource';

/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/** Keeps a stream, which may fail while the interceptors still work on its answer, from ending the process by that. */
function hold(answer: unknown, context: OperationContext): void {
  if (!(answer instanceof StreamableFile || isStreamingBody(answer))) return;
  listenForStreamError(answer);
  context.streamed = answer;
}

/** What a guard or handler answers, which may be a promise, an Observable, or a promise of one. */
async function settled(answer: unknown, { response }: OperationContext): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastOf(value, response) : value;
}

/** The last value of an Observable, which is given up when the client is gone. */
function lastOf(values: Observable<unknown>, response: Response): Promise<unknown> {
  if (response.closed) return Promise.reject(new EmptyError());
  return lastValueFrom(values.pipe(takeUntil(fromEvent(response, 'close'))));
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

/** Ends the response as Express does; the JSON of an operation that nobody revalidates, and a 304, without its detours. */
function write(request: Request, response: Response, body: unknown, adapter: HttpServer): void {
  // ConditionalGetInterceptor has taken from it what a 304 must not have.
  if (body === undefined && response.statusCode === 304) {
    response.end();
  } else if (typeof body === 'string' && isPlainJson(request, response)) {
    response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  } else {
    adapter.reply(response, body);
  }
}

/** Whether Express would change nothing of it: neither its status, nor its headers, nor whether it has a body. */
function isPlainJson({ headers }: Request, response: Response): boolean {
  return (
    !BODILESS.has(response.statusCode) &&
    response.getHeader('Content-Type') === JSON_CONTENT_TYPE &&
    !response.hasHeader('Transfer-Encoding') &&
    !('if-none-match' in headers || 'if-modified-since' in headers)
  );
}
