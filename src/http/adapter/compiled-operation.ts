import { finished } from 'node:stream';
import { ForbiddenException, StreamableFile, type HttpServer } from '@nestjs/common';
import { FORBIDDEN_MESSAGE } from '@nestjs/core/guards/constants.js';
import { destroyUnsentBody } from '@nestjs/core/helpers/destroy-unsent-body.js';
import { RouterResponseController } from '@nestjs/core/router/router-response-controller.js';
import { isStreamingBody, listenForStreamError } from '@nestjs/core/router/streaming-body.js';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { writeRefusal } from '../../errors/error.filter.js';
import { JsonText } from '../../database/json-text.js';
import { JSON_CONTENT_TYPE } from '../json-response.interceptor.js';
import type { DirectChain } from './direct-chain.js';
import { DirectContext } from './direct-context.js';
import type { HandlerParameter, PlainOperation } from './plain-operation.js';

/**
 * Runs the chain around one plain operation: the same guards, interceptors, pipes and handler as Nest, in the same order,
 * awaited one after the other instead of by way of rxjs.
 */
export class DirectOperation {
  private readonly responses;

  constructor(
    private readonly operation: PlainOperation,
    private readonly chain: DirectChain,
    private readonly adapter: HttpServer,
  ) {
    this.responses = new RouterResponseController(adapter);
  }

  /** Answers the request, whatever happens. Never rejects. */
  async run(request: Request, response: Response): Promise<void> {
    const { controller, handler, status } = this.operation;
    const context = new DirectContext([request, response, nothing], controller, handler);
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
      writeRefusal(error, request, response);
    }
  }

  private async guard(context: DirectContext): Promise<void> {
    for (const guard of this.chain.guards) {
      const verdict = guard.canActivate(context);
      if (verdict === true) continue;
      if (!(await settled(verdict))) throw new ForbiddenException(FORBIDDEN_MESSAGE);
    }
  }

  private around(context: DirectContext, from: number): Promise<unknown> {
    const interceptor = this.chain.interceptors[from];
    return interceptor
      ? interceptor.around(context, () => this.around(context, from + 1))
      : this.handle(context);
  }

  private async handle(context: DirectContext): Promise<unknown> {
    const { instance, handler, parameters } = this.operation;
    const args: unknown[] = [];
    for (const parameter of parameters) args[parameter.index] = await this.piped(parameter, context);
    const answer = await settled(handler.apply(instance, args));
    if (typeof answer === 'object' && !(answer instanceof JsonText)) hold(answer, context);
    return answer;
  }

  private async piped({ valueIn, metadata }: HandlerParameter, context: DirectContext): Promise<unknown> {
    let value = valueIn(context);
    if (metadata)
      for (const pipe of this.chain.pipes) value = (await pipe.transform(await value, metadata)) as unknown;
    return value;
  }
}

const nothing = (): void => undefined;
/** Statuses whose responses have no body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = new Set([204, 205, 304]);

/** Keeps a stream, which may fail while the interceptors still work on its answer, from ending the process by that. */
function hold(answer: unknown, context: DirectContext): void {
  if (!(answer instanceof StreamableFile || isStreamingBody(answer))) return;
  listenForStreamError(answer);
  context.streamed = answer;
}

/** What a guard or handler answers, which may be a promise, an Observable, or a promise of one. */
async function settled(answer: unknown): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastValueFrom(value) : value;
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
