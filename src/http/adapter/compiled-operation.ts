import { finished } from 'node:stream';
import { ForbiddenException, type HttpServer } from '@nestjs/common';
import { destroyUnsentBody } from '@nestjs/core/helpers/destroy-unsent-body.js';
import { markRejectedByPipes } from '@nestjs/core/router/rejected-by-pipes.js';
import { RouterResponseController } from '@nestjs/core/router/router-response-controller.js';
import { isStreamingBody } from '@nestjs/core/router/streaming-body.js';
import type { NextFunction, Request, Response } from 'express';
import {
  EmptyError,
  Observable,
  type Subscription,
  fromEvent,
  isObservable,
  lastValueFrom,
  takeUntil,
  tap,
} from 'rxjs';
import { writeRefusal } from '../../core/errors/error.filter.js';
import { inSpan, tracing } from '../../core/tracing/spans.js';
import { type Chain, type ChainRun, chained } from './interceptor-chain.js';
import { held, sentOf, write } from './operation-answer.js';
import { OperationContext } from './operation-context.js';
import type { OperationPlan, PlannedParameter } from './operation-plan.js';

/**
 * Runs one operation: the same guards, interceptors, pipes and handler that Nest would run, in the same order. Each step is
 * awaited directly; Nest connects the steps with rxjs, which costs more time. Only ordinary interceptors get an Observable.
 */
export class CompiledOperation {
  private readonly responses;
  private readonly chain: Chain<OperationContext>;

  constructor(
    private readonly plan: OperationPlan,
    private readonly adapter: HttpServer,
  ) {
    this.responses = new RouterResponseController(adapter);
    this.chain = chained(plan.interceptors, {
      answer: (run) => this.answer(run),
      values: (context) => this.values(context),
    });
  }

  /** Answers the request; what a step throws becomes an error response. The returned promise never rejects. */
  async run(request: Request, response: Response, next: NextFunction): Promise<void> {
    const { controller, handler, status } = this.plan;
    const context = new OperationContext(request, response, next, controller, handler);
    try {
      await this.guard(context);
      response.statusCode = status;
      const answer = await this.chain.answer(context);
      const { streams } = context;
      const sent = streams ? sentOf(answer, streams) : answer;
      if (typeof sent === 'object' && isStreamingBody(sent))
        await this.responses.stream(sent, response, request);
      else write(request, response, sent, this.adapter);
      // An interceptor may have answered something else that still reads from a stream. So it is destroyed only when the
      // response has ended.
      const unsent = streams?.filter((stream) => stream !== answer && stream !== sent);
      if (unsent && unsent.length > 0) finished(response, () => unsent.forEach(destroyUnsentBody));
    } catch (error) {
      context.streams?.forEach(destroyUnsentBody);
      // EmptyError on a closed response: an Observable was given up because the client has disconnected, so no answer is
      // written.
      if (!(error instanceof EmptyError && response.closed)) writeRefusal(error, request, response);
    }
  }

  private async guard(context: OperationContext): Promise<void> {
    for (const guard of this.plan.guards) {
      const verdict = guard.canActivate(context);
      if (verdict === true) continue;
      const settled = await verdict;
      if (!(isObservable(settled) ? await lastWhileOpen(settled, context.response) : settled))
        throw new ForbiddenException(FORBIDDEN_MESSAGE);
    }
  }

  /** Pipes and handler, awaited; of an Observable the last value. */
  private async answer(run: ChainRun<OperationContext>): Promise<unknown> {
    const { context } = run;
    const answered = await this.handle(context);
    if (!isObservable(answered)) return held(answered, context);
    context.giveUpWhenClosed();
    return lastValueFrom(
      answered.pipe(
        tap((value) => held(value, context)),
        takeUntil(run.unwanted),
      ),
    );
  }

  /** Pipes and handler, which begin at once, as in Nest; the Observable is subscribed to once. */
  private values(context: OperationContext): Observable<unknown> {
    const handled = this.handle(context);
    return new Observable((subscriber) => {
      let ofHandler: Subscription | undefined;
      const emit = (answered: unknown): void => {
        // Nobody wants it any more; a stream may hold an open file.
        if (subscriber.closed) destroyUnsentBody(answered);
        else if (isObservable(answered)) {
          context.giveUpWhenClosed();
          ofHandler = answered.pipe(tap((value) => held(value, context))).subscribe(subscriber);
        } else {
          subscriber.next(held(answered, context));
          subscriber.complete();
        }
      };
      handled.then(emit, (error: unknown) => subscriber.error(error));
      return () => ofHandler?.unsubscribe();
    });
  }

  /** What the handler answers; pipes too are left out when something answers in its place. */
  private handle(context: OperationContext): Promise<unknown> {
    const { aroundHandler } = context;
    return aroundHandler ? aroundHandler(() => this.call(context)) : this.call(context);
  }

  private async call(context: OperationContext): Promise<unknown> {
    const { instance, handler, parameters } = this.plan;
    const args: unknown[] = [];
    let piping: Promise<void>[] | undefined;
    try {
      for (const parameter of parameters) {
        if (parameter.metadata) (piping ??= []).push(this.pipe(parameter, context, args));
        else args[parameter.index] = parameter.valueIn(context);
      }
      // The pipes of all parameters start together, as in Nest. The first one that rejects decides the answer.
      if (piping) await (piping.length === 1 ? piping[0] : Promise.all(piping));
    } catch (error) {
      // An interceptor that has stored uploaded files removes them then.
      markRejectedByPipes(context.request);
      throw error;
    }
    return tracing()
      ? inSpan('handler', 'INTERNAL', {}, () => handler.apply(instance, args))
      : handler.apply(instance, args);
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

/** The last value of an Observable; rejects with EmptyError if the client disconnects before the first one. */
function lastWhileOpen(values: Observable<unknown>, response: Response): Promise<unknown> {
  if (response.closed) return Promise.reject(new EmptyError());
  return lastValueFrom(values.pipe(takeUntil(fromEvent(response, 'close'))));
}

function isThenable(value: unknown): boolean {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
