import { createHash } from 'node:crypto';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type RawBodyRequest,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Observable, from, lastValueFrom } from 'rxjs';
import { callerOf } from '../../auth/caller.js';
import { Transactions } from '../../database/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { writeExactJson } from '../body/exact-json.js';
import { JsonText } from '../../database/json-rows.js';
import { JSON_CONTENT_TYPE, represent } from '../representation.js';
import { idempotencyKeyOf } from './idempotency-key.js';
import { IdempotencyStore, type KeptAnswer } from './idempotency.store.js';
import { handlerInside } from './transactional-handler.js';

/** What tells two requests with one key apart: SHA-256 of method, target and body as sent. */
export function requestDigest(request: RawBodyRequest<Request>): string {
  return createHash('sha256')
    .update(`${request.method} ${request.originalUrl}\n`)
    .update(request.rawBody ?? '')
    .digest('hex');
}

/** A request that is to be carried out once. */
interface Once {
  readonly clientId: string;
  readonly key: string;
  readonly digest: string;
}

/** Thrown at the first statement of a handler when another process has answered its request meanwhile. */
class AnsweredMeanwhile extends Error {}

/**
 * Carries an `@Idempotent()` operation out once for each `Idempotency-Key` of a client, and answers repetitions the same. Other
 * interceptors run around it: with a key they see the JsonText that is kept, of a repetition too.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly transactions: Transactions,
    private readonly store: IdempotencyStore,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const key = idempotencyKeyOf(context.switchToHttp().getRequest<Request>());
    if (key === undefined) return next.handle();
    return from(this.answer(key, context, () => lastValueFrom(next.handle())));
  }

  /** The same as `intercept()`, without Observables: those cost a POST a seventh of its time. */
  around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const key = idempotencyKeyOf(context.switchToHttp().getRequest<Request>());
    return key === undefined ? next() : this.answer(key, context, next);
  }

  private async answer(
    key: string,
    context: ExecutionContext,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const once = { clientId: callerOf(request)?.clientId ?? '', key, digest: requestDigest(request) };
    const name = `${context.getClass().name}.${context.getHandler().name}`;
    const kept = await this.store.find(once.clientId, once.key);
    if (kept) return answerWith(kept, once, response);
    return this.carryOut(once, response, () => this.inTransaction(name, once, response, next));
  }

  private async carryOut(once: Once, response: Response, work: () => Promise<unknown>): Promise<unknown> {
    const name = `${once.clientId} ${once.key}`;
    if (this.store.inProgress.get(name)) throw inProgress();
    this.store.inProgress.set(name, true);
    const before = new Set(response.getHeaderNames());
    try {
      return await work();
    } catch (error) {
      // Another process may have carried it out meanwhile; then this one has committed nothing.
      const kept = await this.store.find(once.clientId, once.key).catch(() => undefined);
      if (!kept) throw error;
      for (const header of response.getHeaderNames()) if (!before.has(header)) response.removeHeader(header);
      return answerWith(kept, once, response);
    } finally {
      this.store.inProgress.delete(name);
    }
  }

  private inTransaction(
    name: string,
    once: Once,
    response: Response,
    next: () => Promise<unknown>,
  ): Promise<unknown> {
    const first = async (): Promise<void> => {
      // Another instance may be carrying it out, and would commit the same once more.
      if (!(await this.transactions.tryToClaim(`idempotency ${once.clientId} ${once.key}`)))
        throw inProgress();
      if (await this.store.find(once.clientId, once.key)) throw new AnsweredMeanwhile();
    };
    return this.transactions.run({ name: () => name, first }, async (inside) => {
      const before = new Set(response.getHeaderNames());
      const { operation } = response.req.matchedHandler ?? {};
      const body = represent(response, await handlerInside(inside, next), operation);
      const text = textOf(body);
      const added = response.getHeaderNames().filter((header) => !before.has(header));
      const headers = Object.fromEntries(added.map((header) => [header, String(response.getHeader(header))]));
      await inside(() => this.store.keep({ ...once, status: response.statusCode, headers, body: text }));
      return body;
    });
  }
}

function inProgress(): ApiError {
  return new ApiError(HTTP_ERRORS.idempotency_in_progress, { headers: { 'Retry-After': '1' } });
}

/** The text of an answer that is to be kept; throws for what is sent piece by piece, so that nothing of it is committed. */
function textOf(body: unknown): string {
  if (body === undefined || body === null) return '';
  if (body instanceof JsonText) return body.text;
  if (typeof body === 'object') throw new Error('A stream cannot be kept for an Idempotency-Key.');
  return typeof body === 'string' ? body : writeExactJson(body);
}

/** Answers as before; throws idempotency_key_reused when the request is another one than before. */
function answerWith(kept: KeptAnswer, { digest }: Once, response: Response): unknown {
  if (kept.digest !== digest) throw new ApiError(HTTP_ERRORS.idempotency_key_reused);
  response.status(kept.status).setHeader('Idempotent-Replayed', 'true');
  for (const [name, value] of Object.entries(kept.headers)) response.setHeader(name, value);
  if (kept.body === '') return undefined;
  return response.getHeader('Content-Type') === JSON_CONTENT_TYPE ? new JsonText(kept.body) : kept.body;
}
