import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { callerOf } from '../../auth/caller.js';
import { GroupedInserts } from '../../database/grouped-inserts.js';
import { OneTransaction, SingleStatements } from '../../database/unit-of-work.js';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { HandlerMetadata } from '../../handler-metadata.js';
import { PromisedInterceptor } from '../promised.interceptor.js';
import { setUnit } from './current-unit.js';
import type { IdempotencyEntry } from './idempotency-entry.entity.js';
import { idempotencyKeyOf, requestDigest } from './idempotency-key.js';
import { IdempotencyStore } from './idempotency.store.js';
import { IDEMPOTENT } from './idempotent.decorator.js';

/** A request that is to be carried out once. */
interface Once {
  readonly clientId: string;
  readonly key: string;
  readonly digest: string;
}

/**
 * Carries an `@Idempotent()` operation out once for each `Idempotency-Key` of a client, and answers repetitions the same.
 * It stands outside of what writes the response, whose text it keeps.
 */
@Injectable()
export class IdempotencyInterceptor extends PromisedInterceptor {
  private readonly inProgress = new Set<string>();
  private readonly isIdempotent;

  constructor(
    private readonly dataSource: DataSource,
    private readonly store: IdempotencyStore,
    reflector: Reflector,
    private readonly inserts: GroupedInserts,
  ) {
    super();
    this.isIdempotent = new HandlerMetadata(([handler]) =>
      reflector.get<boolean | undefined>(IDEMPOTENT, handler),
    );
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    if (!this.isIdempotent.of(context)) return next();
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const key = idempotencyKeyOf(request);
    if (key === undefined) {
      setUnit(request, new SingleStatements(this.dataSource.manager, this.inserts));
      return next();
    }
    const once = { clientId: callerOf(request)?.clientId ?? '', key, digest: requestDigest(request) };
    const response = http.getResponse<Response>();
    return (await this.replay(once, response)) ?? (await this.carryOut(once, request, response, next));
  }

  private async carryOut(
    once: Once,
    request: Request,
    response: Response,
    next: () => Promise<unknown>,
  ): Promise<string> {
    const name = `${once.clientId} ${once.key}`;
    if (this.inProgress.has(name)) {
      throw new ApiError(HTTP_ERRORS.idempotency_in_progress, { headers: { 'Retry-After': '1' } });
    }
    this.inProgress.add(name);
    try {
      return await this.inTransaction(once, request, response, next);
    } catch (error) {
      // Another process may have carried it out meanwhile; then nothing of ours is committed.
      const kept = error instanceof ApiError ? undefined : await this.replay(once, response);
      if (kept === undefined) throw error;
      return kept;
    } finally {
      this.inProgress.delete(name);
    }
  }

  private async inTransaction(
    once: Once,
    request: Request,
    response: Response,
    next: () => Promise<unknown>,
  ): Promise<string> {
    let unit: OneTransaction | undefined;
    const body = await this.dataSource.transaction(async (manager) => {
      const kept = await this.store.find(once.clientId, once.key, manager);
      if (kept) return answerWith(kept, once, response);
      unit = new OneTransaction(manager);
      setUnit(request, unit);
      const before = new Set(response.getHeaderNames());
      const text = ((await next()) as string | undefined) ?? '';
      const added = response.getHeaderNames().filter((header) => !before.has(header));
      const headers = Object.fromEntries(added.map((header) => [header, String(response.getHeader(header))]));
      await this.store.keep(manager, { ...once, status: response.statusCode, headers, body: text });
      return text;
    });
    unit?.committed();
    return body;
  }

  private async replay(once: Once, response: Response): Promise<string | undefined> {
    const kept = await this.store.find(once.clientId, once.key);
    return kept && answerWith(kept, once, response);
  }
}

/** Answers as before; throws idempotency_key_reused when the request is another one than before. */
function answerWith(kept: IdempotencyEntry, { digest }: Once, response: Response): string {
  if (kept.digest !== digest) throw new ApiError(HTTP_ERRORS.idempotency_key_reused);
  response.status(kept.status).setHeader('Idempotent-Replayed', 'true');
  for (const [name, value] of Object.entries(kept.headers)) response.setHeader(name, value);
  return kept.body;
}
