import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { type ExecutionContext, Injectable, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { Request, Response } from 'express';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { HandlerMetadata } from '../../handler-metadata.js';
import { RequestSlot } from '../../request-slot.js';
import { methodNameOf } from '../adapter/handler-parameters.js';
import { announcesBody } from '../adapter/service-server.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { isJsonInUtf8 } from '../media-type.js';
import { mediaTypesOf } from './body-media-types.js';
import { parseExactJsonIfAny } from './exact-json.js';

const BODY_BYTES = new RequestSlot<Buffer>();

/** The body of a request as sent, once it has been read; empty without one. */
export function bodyBytesOf(request: Request): Buffer {
  return BODY_BYTES.get(request) ?? Buffer.alloc(0);
}

/** Throws for bytes that are not UTF-8. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads and parses the JSON body. It is an interceptor because those run behind the guards: a caller without
 * a valid key, quota or scope never gets a body parsed.
 */
@Injectable()
export class JsonBodyInterceptor extends AsyncInterceptor {
  private readonly mediaTypes = new HandlerMetadata(([handler, controller]) =>
    mediaTypesOf(controller as Type, methodNameOf(handler, controller as Type)),
  );

  constructor(private readonly settings: Settings) {
    super();
  }

  override concerns(handler: object): boolean {
    return Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET;
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!BODILESS.has(request.method) && announcesBody(request)) {
      request.body = await this.parse(context, request, http.getResponse<Response>());
    }
    return next();
  }

  private async parse(context: ExecutionContext, request: Request, response: Response): Promise<unknown> {
    const { 'content-type': type, 'content-length': length } = request.headers;
    const isTaken = isJsonInUtf8(type) || this.takes(type, context);
    // A chunked body may turn out to be empty; then it needs no type.
    if (!isTaken && length !== undefined) throw this.notTaken(context, request);
    const bytes = await readBody(request, response, this.settings.bodyLimitBytes);
    if (!isTaken && bytes.length > 0) throw this.notTaken(context, request);
    BODY_BYTES.set(request, bytes);
    try {
      return parseExactJsonIfAny(UTF8.decode(bytes));
    } catch (error) {
      throw new ApiError(HTTP_ERRORS.malformed_json, { params: { reason: reasonOf(error) }, cause: error });
    }
  }

  private takes(contentType: string | undefined, context: ExecutionContext): boolean {
    return this.mediaTypes.of(context).some((type) => isJsonInUtf8(contentType, type));
  }

  /** The refusal of a PATCH names the types that it takes (RFC 5789 section 2.2). */
  private notTaken(context: ExecutionContext, { method }: Request): ApiError {
    const headers: Record<string, string> =
      method === 'PATCH' ? { 'Accept-Patch': this.mediaTypes.of(context).join(', ') } : {};
    return new ApiError(HTTP_ERRORS.unsupported_media_type, { headers });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return error.message.replace(/\.$/, '');
  return 'it is not UTF-8';
}

/** Decodes a body of at most `maxOutputLength` bytes. */
type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Decoders by content coding (RFC 9110 section 8.4.1). Any other coding is answered 415. */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Reads the body of a request, decoded, and asks a client that waits for it to go on. Throws payload_too_large before it reads
 * a body that is announced to be longer than `limit` bytes, and at the limit of one that is not; unsupported_media_type for a
 * coding that is not understood; malformed_request for a body that is not what its coding says, or breaks off.
 */
export async function readBody(request: Request, response: Response, limit: number): Promise<Buffer> {
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decode = DECODERS[coding];
  const isUnderstood = decode !== undefined || coding === 'identity';
  // A chunked body may turn out to be empty; then its coding does not matter.
  if (!isUnderstood && request.headers['content-length'] !== undefined) throw notUnderstood();
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  // HTTP/1.0 has no 100 Continue (RFC 9110 section 10.1.1).
  if (request.headers.expect?.toLowerCase() === '100-continue' && request.httpVersion === '1.1')
    response.writeContinue();
  const bytes = await bytesOf(request, limit);
  if (bytes.length === 0) return bytes;
  if (!isUnderstood) throw notUnderstood();
  return decode ? decoded(bytes, decode, limit) : bytes;
}

function bytesOf(request: Request, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (error?: unknown): void => {
      request.off('data', take).off('end', end).off('error', fail);
      if (error !== undefined) reject(error);
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    const take = (chunk: Buffer): void => {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= limit) return;
      request.pause();
      end(tooLarge(limit));
    };
    const fail = (cause: Error): void => end(malformed('its body broke off', cause));
    if (request.destroyed) fail(new Error('The client is gone.'));
    else request.on('data', take).once('end', end).once('error', fail);
  });
}

async function decoded(bytes: Buffer, decode: Decode, limit: number): Promise<Buffer> {
  try {
    return await decode(bytes, { maxOutputLength: limit });
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw malformed('its body is not what Content-Encoding says', cause);
  }
}

/** The refusal names the supported codings (RFC 9110 section 15.5.16). */
function notUnderstood(): ApiError {
  return new ApiError(HTTP_ERRORS.unsupported_media_type, {
    headers: { 'Accept-Encoding': 'gzip, deflate, br' },
  });
}

function tooLarge(limit: number): ApiError {
  return new ApiError(HTTP_ERRORS.payload_too_large, { params: { limit } });
}

function malformed(reason: string, cause: unknown): ApiError {
  return new ApiError(HTTP_ERRORS.malformed_request, { params: { reason }, cause });
}
