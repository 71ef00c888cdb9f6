import { ForbiddenException } from '@nestjs/common';
import type { HttpServer } from '@nestjs/common';
import { FORBIDDEN_MESSAGE } from '@nestjs/core/guards/constants.js';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { writeRefusal } from '../../errors/error.filter.js';
import type { DirectChain } from './direct-chain.js';
import { DirectContext } from './direct-context.js';
import type { HandlerParameter, PlainOperation } from './plain-operation.js';

/**
 * Runs the chain around one plain operation: the same guards, interceptors, pipes and handler as Nest, in the same order,
 * awaited one after the other instead of by way of rxjs.
 */
export class DirectOperation {
  constructor(
    private readonly operation: PlainOperation,
    private readonly chain: DirectChain,
    private readonly adapter: HttpServer,
  ) {}

  /** Answers the request, whatever happens. Never rejects. */
  async run(request: Request, response: Response): Promise<void> {
    const { controller, handler, status } = this.operation;
    const context = new DirectContext([request, response, nothing], controller, handler);
    try {
      await this.pass(context);
      response.statusCode = status;
      write(request, response, await this.around(context, 0), this.adapter);
    } catch (error) {
      writeRefusal(error, request, response);
    }
  }

  private async pass(context: DirectContext): Promise<void> {
    for (const guard of this.chain.guards) {
      const verdict = guard.canActivate(context);
      if (verdict === true) continue;
      if ((await settled(verdict)) !== true) throw new ForbiddenException(FORBIDDEN_MESSAGE);
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
    return settled(handler.apply(instance, args));
  }

  private async piped({ valueIn, metadata }: HandlerParameter, context: DirectContext): Promise<unknown> {
    let value = valueIn(context);
    if (metadata)
      for (const pipe of this.chain.pipes) value = (await pipe.transform(await value, metadata)) as unknown;
    return value;
  }
}

const nothing = (): void => undefined;

/** What a guard or handler answers, which may be a promise, an Observable, or a promise of one. */
async function settled(answer: unknown): Promise<unknown> {
  const value = await answer;
  return isObservable(value) ? lastValueFrom(value) : value;
}

/** Ends the response as Express does; a text that nobody revalidates without its detours. */
function write(request: Request, response: Response, body: unknown, adapter: HttpServer): void {
  // ConditionalGetInterceptor has taken from it what a 304 must not have.
  if (body === undefined && response.statusCode === 304) {
    response.end();
    return;
  }
  const { headers } = request;
  const isConditional = 'if-none-match' in headers || 'if-modified-since' in headers;
  if (typeof body !== 'string' || isConditional) {
    adapter.reply(response, body);
    return;
  }
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
