import { createHash } from 'node:crypto';
import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { callerOf } from '../../auth/caller.js';
import { Transactions } from '../../database/transactions.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { HandlerMetadata } from '../../core/handler-metadata.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { writeExactJson } from '../body/exact-json.js';
import { bodyBytesOf } from '../body/json-body.interceptor.js';
import { TransientMap } from '../../core/transient-map.js';
import { idempotencyKeyOf } from './idempotency-key.js';
import { IdempotencyStore, type KeptAnswer } from './idempotency.store.js';
import { IDEMPOTENT, handlerInside } from './idempotent.decorator.js';

/** What tells two requests with one key apart: SHA-256 of method, target and body as sent. */
export function requestDigest(request: Request): string {
  return createHash('sha256')
    .update(`${request.method} ${request.originalUrl}\n`)
    .update(bodyBytesOf(request))
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
 * Carries an `@Idempotent()` operation out once for each `Idempotency-Key` of a client, and answers repetitions the same.
 * In the chain it is outside of JsonResponseInterceptor, whose text it keeps.
 */
@Injectable()
export class IdempotencyInterceptor extends AsyncInterceptor {
  private readonly inProgress = new TransientMap<string, true>();
  private readonly isIdempotent;

  constructor(
    private readonly transactions: Transactions,
    private readonly store: IdempotencyStore,
    reflector: Reflector,
  ) {
    super();
    this.isIdempotent = new HandlerMetadata(([handler]) =>
      reflector.get<boolean | undefined>(IDEMPOTENT, handler),
    );
  }

  override concerns(handler: object): boolean {
    return Reflect.hasMetadata(IDEMPOTENT, handler);
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    if (!this.isIdempotent.of(context)) return next();
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const key = idempotencyKeyOf(request);
    if (key === undefined) return next();
    const once = { clientId: callerOf(request)?.clientId ?? '', key, digest: requestDigest(request) };
    const response = http.getResponse<Response>();
    const name = `${context.getClass().name}.${context.getHandler().name}`;
    return (
      (await this.replay(once, response)) ??
      (await this.carryOut(once, response, () => this.inTransaction(name, once, response, next)))
    );
  }

  private async carryOut(once: Once, response: Response, work: () => Promise<string>): Promise<string> {
    const name = `${once.clientId} ${once.key}`;
    if (this.inProgress.get(name)) throw inProgress();
    this.inProgress.set(name, true);
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
      this.inProgress.delete(name);
    }
  }

  private inTransaction(
    name: string,
    once: Once,
    response: Response,
    next: () => Promise<unknown>,
  ): Promise<string> {
    const first = async (): Promise<void> => {
      // Another instance may be carrying it out, and would commit the same once more.
      if (!(await this.transactions.tryToClaim(`idempotency ${once.clientId} ${once.key}`)))
        throw inProgress();
      if (await this.store.find(once.clientId, once.key)) throw new AnsweredMeanwhile();
    };
    return this.transactions.run({ name, first }, async (inside) => {
      const before = new Set(response.getHeaderNames());
      const text = textOf(await handlerInside(inside, next));
      const added = response.getHeaderNames().filter((header) => !before.has(header));
      const headers = Object.fromEntries(added.map((header) => [header, String(response.getHeader(header))]));
      await inside(() => this.store.keep({ ...once, status: response.statusCode, headers, body: text }));
      return text;
    });
  }

  private async replay(once: Once, response: Response): Promise<string | undefined> {
    const kept = await this.store.find(once.clientId, once.key);
    return kept && answerWith(kept, once, response);
  }
}

function inProgress(): ApiError {
  return new ApiError(HTTP_ERRORS.idempotency_in_progress, { headers: { 'Retry-After': '1' } });
}

/** The text of an answer that is to be kept; throws for what is sent piece by piece, so that nothing of it is committed. */
function textOf(body: unknown): string {
  if (body === undefined || body === null) return '';
  if (typeof body === 'object') throw new Error('A stream cannot be kept for an Idempotency-Key.');
  return typeof body === 'string' ? body : writeExactJson(body);
}

/** Answers as before; throws idempotency_key_reused when the request is another one than before. */
function answerWith(kept: KeptAnswer, { digest }: Once, response: Response): string {
  if (kept.digest !== digest) throw new ApiError(HTTP_ERRORS.idempotency_key_reused);
  response.status(kept.status).setHeader('Idempotent-Replayed', 'true');
  for (const [name, value] of Object.entries(kept.headers)) response.setHeader(name, value);
  return kept.body;
}
