import { createHash } from 'node:crypto';
import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Injectable,
  type RawBodyRequest,
  UseGuards,
} from '@nestjs/common';
import { type ClassTransformOptions, instanceToPlain } from 'class-transformer';
import type { Request, Response } from 'express';
import { isObservable, lastValueFrom } from 'rxjs';
import { callerOf } from '../../auth/caller.js';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { declareOperation } from '../../core/declared-operation.js';
import { JsonText } from '../../database/json-rows.js';
import { Transactions } from '../../database/transactions/transactions.js';
import { wrapHandler } from '../operations/handler-parameters.js';
import { type RegisteredOperation, metadataOf } from '../operations/registered-operation.js';
import { parseExactJson, plainNumbers, writeExactJson } from '../../core/exact-json.js';
import { EarlyResponses } from '../replies/early-response.js';
import { IdempotencyStore, type StoredResponse } from './idempotency.store.js';
import { JSON_CONTENT_TYPE, isOf, isValue, represent } from '../replies/reply.js';

/**
 * Makes an operation safe to retry: with an `Idempotency-Key`, it is executed once and returns the same response for 24 hours. Writes of
 * the handler, through repositories or the DataSource, are committed together with the stored response and are invisible to other requests
 * until then.
 */
export function Idempotent(): MethodDecorator {
  return (prototype, method, descriptor: PropertyDescriptor) => {
    wrapHandler(prototype, method, descriptor, ({ idempotent, res }, handler) =>
      idempotent ? idempotent.guard.wrap(res as Response, idempotent, handler) : handler(),
    );
    UseGuards(IdempotencyGuard)(prototype, method, descriptor);
    declareOperation(descriptor.value as object, { isIdempotent: true });
  };
}

/** Metadata key of Nest's `@SerializeOptions()`. */
const SERIALIZE_OPTIONS = 'class_serializer:options';

const MAX_LENGTH = 255;

/** Allowed values of an `Idempotency-Key`, as JSON Schema: visible ASCII characters, or a Structured Fields String. */
export const IDEMPOTENCY_KEY_FORM = {
  minLength: 1,
  maxLength: 2 * MAX_LENGTH + 2,
  pattern: '^([!#-~][!-~]*|"([ !#-\\[\\]-~]|\\\\["\\\\])+")$',
} as const;

const ALLOWED = new RegExp(IDEMPOTENCY_KEY_FORM.pattern);

/** The key in a header field, bare or as a String (RFC 9651 section 3.3.3): `q1` and `"q1"` are the same. Undefined if malformed. */
export function keyIn(field: string): string | undefined {
  if (!ALLOWED.test(field)) return undefined;
  const key = field.startsWith('"') ? field.slice(1, -1).replaceAll(/\\(.)/g, '$1') : field;
  return key.length <= MAX_LENGTH ? key : undefined;
}

/** The `Idempotency-Key` of a request; undefined if there is none. Throws validation_failed if it is malformed. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const field = request.headers['idempotency-key'];
  if (field === undefined) return undefined;
  const key = typeof field === 'string' ? keyIn(field) : undefined;
  if (key !== undefined) return key;
  const message =
    'This must be 1 to 255 visible ASCII characters, such as a UUID. In double quotes, spaces are allowed, and " and \\ must follow a \\.';
  throw new ApiError(HTTP_ERRORS.validation_failed, {
    details: [{ field: 'Idempotency-Key', code: 'malformed_key', message }],
  });
}

/** A digest to distinguish two requests with the same key: SHA-256 of method, target and body as sent. */
export function requestDigest(request: RawBodyRequest<Request>): string {
  return createHash('sha256')
    .update(`${request.method} ${request.originalUrl}\n`)
    .update(request.rawBody ?? '')
    .digest('hex');
}

interface KeyedRequest {
  readonly clientId: string;
  readonly key: string;
  readonly digest: string;
}

/** What the guard attaches to such a request for its handler. */
export interface IdempotentRequest {
  readonly guard: IdempotencyGuard;
  readonly keyed: KeyedRequest;
  /** The response to an earlier request with the key. */
  readonly stored: StoredResponse | undefined;
  /** Whether interceptors receive the handler's result. */
  readonly isIntercepted: boolean;
}

/**
 * Executes an `@Idempotent()` handler once per `Idempotency-Key` of a client, and sends retries the same response. The handler runs in one
 * transaction with the stored response; guards, pipes and interceptors run outside of it.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly transactions: Transactions,
    private readonly store: IdempotencyStore,
    private readonly early: EarlyResponses,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.getArgByIndex<Request>(0);
    const key = idempotencyKeyOf(request);
    return key === undefined || this.prepare(key, request, context);
  }

  private async prepare(key: string, request: Request, context: ExecutionContext): Promise<boolean> {
    const keyed = { clientId: callerOf(request)?.clientId ?? '', key, digest: requestDigest(request) };
    const stored = await this.store.find(keyed.clientId, key);
    if (stored) checkDigest(stored, keyed);
    if (stored && this.early.areBypassable(IdempotencyGuard, context))
      return this.early.send(context, replay(stored, context.getArgByIndex(1)));
    request.idempotent = {
      guard: this,
      keyed,
      stored,
      isIntercepted: this.early.isIntercepted(context),
    };
    return true;
  }

  /** The stored result of a handler or, if there is none, its new result, which is stored. Throws idempotency_in_progress. */
  async wrap(
    response: Response,
    { keyed, stored, isIntercepted }: IdempotentRequest,
    handler: () => unknown,
  ): Promise<unknown> {
    if (stored) return replay(stored, response);
    const name = `${keyed.clientId} ${keyed.key}`;
    if (this.store.inProgress.get(name)) throw inProgress();
    this.store.inProgress.set(name, true);
    const before = new Set(response.getHeaderNames());
    try {
      return await this.inTransaction(keyed, response, handler, isIntercepted);
    } catch (error) {
      // Another process may have executed it by now; this one has then committed nothing.
      const ofOther = await this.store.find(keyed.clientId, keyed.key).catch(() => undefined);
      if (!ofOther) throw error;
      for (const header of response.getHeaderNames()) if (!before.has(header)) response.removeHeader(header);
      checkDigest(ofOther, keyed);
      return replay(ofOther, response);
    } finally {
      this.store.inProgress.delete(name);
    }
  }

  private inTransaction(
    keyed: KeyedRequest,
    response: Response,
    handler: () => unknown,
    isIntercepted: boolean,
  ): Promise<unknown> {
    const { operation } = response.req;
    const first = async (): Promise<void> => {
      // Another instance may be executing it or have done so; this one must not commit the same again.
      const isLocked = await this.transactions.tryLock(`idempotency ${keyed.clientId} ${keyed.key}`);
      if (!isLocked || (await this.store.find(keyed.clientId, keyed.key))) throw inProgress();
    };
    return this.transactions.run({ name: () => operation?.name ?? '', isImplicit: true, first }, (inside) =>
      inside(async () => {
        const before = new Set(response.getHeaderNames());
        const result = await handler();
        // An Observable is finished after its last value.
        const last = isObservable(result) ? await lastValueFrom(result) : result;
        // Errors are not stored, so nothing may be committed either.
        if (response.statusCode >= 400) throw new HttpException(last as object, response.statusCode);
        const isForInterceptors = isIntercepted && isValue(response, last) && !isDeclared(operation, last);
        const text = isForInterceptors ? writeExactJson(resultOf(last, response)) : undefined;
        const body = text === undefined ? represent(response, last, operation) : resultIn(text);
        const added = response.getHeaderNames().filter((header) => !before.has(header));
        const headers = Object.fromEntries(added.map((header) => [header, response.getHeader(header) ?? '']));
        await this.store.add({ ...keyed, status: response.statusCode, headers, body: text ?? textOf(body) });
        return body;
      }),
    );
  }
}

function inProgress(): ApiError {
  return new ApiError(HTTP_ERRORS.idempotency_in_progress, { headers: { 'Retry-After': '1' } });
}

/** The text of a response to store. Throws for a stream, so that nothing is committed. */
function textOf(body: unknown): string {
  if (body === undefined || body === null) return '';
  if (body instanceof JsonText) return body.text;
  if (typeof body === 'object') throw new Error('A stream cannot be stored for an Idempotency-Key.');
  return typeof body === 'string' ? body : writeExactJson(body);
}

/** Whether the operation's DTO describes the result, so that it must not be wrapped in the declared envelope. */
function isDeclared(operation: RegisteredOperation | undefined, result: unknown): boolean {
  const dto = operation?.response?.dto;
  return dto !== undefined && isOf(dto, result);
}

/** A result to store. Without a DTO, it is serialized by Nest's ClassSerializerInterceptor first, because a stored result has no class. */
function resultOf(result: unknown, { req }: Response): unknown {
  const { operation } = req;
  if (!operation || operation.response?.dto) return result;
  return instanceToPlain(result, metadataOf(operation, SERIALIZE_OPTIONS) as ClassTransformOptions);
}

/** A result that is serialized after interceptors have received it, both for the first request and for retries. */
function resultIn(text: string): unknown {
  return plainNumbers(parseExactJson(text));
}

/** Throws idempotency_key_reused if a request differs from the first one with its key. */
function checkDigest(stored: StoredResponse, { digest }: KeyedRequest): void {
  if (stored.digest !== digest) throw new ApiError(HTTP_ERRORS.idempotency_key_reused);
}

/** Sets the status and headers of the stored response; returns its body. */
function replay({ status, headers, body }: StoredResponse, response: Response): unknown {
  response.status(status).setHeader('Idempotent-Replayed', 'true');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (body === '') return undefined;
  const type = response.getHeader('Content-Type');
  if (type === undefined) return resultIn(body);
  return type === JSON_CONTENT_TYPE ? new JsonText(body) : body;
}
