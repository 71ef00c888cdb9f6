import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';

/** Requirements for a body. */
export interface BodyRule {
  /** The accepted media types or ranges, for error messages. */
  readonly types: readonly string[];
  /** Maximum size of the decoded body, in bytes. */
  readonly limitBytes: number;
}

/** The error for a body of another type or coding, which lists the supported ones (RFC 9110 section 15.5.16). */
export function unsupported(
  { method }: Request,
  types: readonly string[],
  codings: readonly string[],
): ApiError {
  const understood = codings.join(', ');
  return new ApiError(HTTP_ERRORS.unsupported_media_type, {
    params: { type: types.join(' or '), codings: understood === '' ? 'none' : understood },
    headers: {
      'Accept-Encoding': understood === '' ? 'identity' : understood,
      // RFC 5789 section 2.2.
      ...(method === 'PATCH' ? { 'Accept-Patch': types.join(', ') } : {}),
    },
  });
}

/** Decodes a body of at most `maxOutputLength` bytes. */
type Decode = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

/** Decoders by content coding (RFC 9110 section 8.4.1). Any other coding is refused with 415. */
const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** The supported content codings. */
export const CODINGS: readonly string[] = ['gzip', 'deflate', 'br'];

/**
 * Reads and decodes a request's body. Throws like `openBody()`, also when the body exceeds the limit; unsupported_media_type for an unknown
 * coding; malformed_request for a body that does not match its coding; Node's error if the body is cut off.
 */
export async function readBody(
  request: Request,
  response: Response,
  { limitBytes: limit, types }: BodyRule,
): Promise<Buffer> {
  const coding = codingOf(request);
  const decode = DECODERS.get(coding);
  const isUnderstood = decode !== undefined || coding === 'identity';
  // A chunked body may turn out to be empty, and then its coding does not matter.
  if (!isUnderstood && request.headers['content-length'] !== undefined)
    throw unsupported(request, types, CODINGS);
  openBody(request, response, limit);
  const bytes = await bytesOf(request);
  if (bytes.length === 0) return bytes;
  if (!isUnderstood) throw unsupported(request, types, CODINGS);
  return decode ? decoded(bytes, decode, limit) : bytes;
}

/** Leaves the body to the handler, which reads the request as a stream that fails at the limit. Throws for a content coding. */
export function limitBody(request: Request, response: Response, { types, limitBytes }: BodyRule): void {
  if (codingOf(request) !== 'identity') throw unsupported(request, types, []);
  openBody(request, response, limitBytes);
}

function codingOf({ headers }: Request): string {
  return headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
}

/**
 * Limits a body: beyond `limit` bytes its stream fails with payload_too_large. Sends 100 Continue if the client waits for it. Throws
 * payload_too_large if the announced length exceeds the limit, and any earlier error of the body, which is malformed or whose client is
 * gone.
 */
function openBody(request: Request, response: Response, limit: number): void {
  if (request.errored) throw request.errored;
  const declaredLength = Number(request.headers['content-length'] ?? 0);
  if (Math.max(request.readableLength, declaredLength) > limit) throw tooLarge(limit);
  failAbove(limit, request);
  // HTTP/1.0 has no 100 Continue (RFC 9110 section 10.1.1).
  if (request.headers.expect?.toLowerCase() === '100-continue' && request.httpVersion === '1.1')
    response.writeContinue();
}

/**
 * Makes a body's stream fail beyond `limit` bytes. Node's parser passes every chunk to `push()`, so counting there works for any reader:
 * this service, multer, a pipe or an iterator.
 */
function failAbove(limit: number, request: Request): void {
  const push = request.push.bind(request);
  // Data that has already arrived is in the stream's buffer.
  let received = request.readableLength;
  request.push = (chunk: Buffer | null, encoding) => {
    received += chunk?.length ?? 0;
    if (received <= limit) return push(chunk, encoding);
    failBody(request, tooLarge(limit));
    return false;
  };
}

/** Ends a body's stream with an error but keeps the connection, over which the error must be sent. */
export function failBody(request: IncomingMessage, refusal: Error): void {
  request._destroy = (error, done) => done(error);
  // If the handler does not read the stream, an `error` event without a listener would end the process.
  request.on('error', () => undefined);
  request.destroy(refusal);
}

/** With listeners, because the iterator of a stream takes 5 % of the time of a POST. */
function bytesOf(request: Request): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const onChunk = (chunk: Buffer): void => void chunks.push(chunk);
    const finish = (error: Error | null): void => {
      request.off('data', onChunk).off('end', end).off('error', finish).off('close', broken);
      if (error) reject(error);
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    };
    const end = (): void => finish(null);
    const broken = (): void => finish(request.errored ?? new Error('The body is incomplete.'));
    request.on('data', onChunk).once('end', end).once('error', finish).once('close', broken);
  });
}

async function decoded(bytes: Buffer, decode: Decode, limit: number): Promise<Buffer> {
  try {
    return await decode(bytes, { maxOutputLength: limit });
  } catch (cause) {
    if ((cause as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw malformed('its body does not match its Content-Encoding', cause);
  }
}

/** The error for a body of more than `limit` bytes. */
export function tooLarge(limit: number): ApiError {
  return new ApiError(HTTP_ERRORS.payload_too_large, { params: { limit } });
}

/** The error for a body that does not match its headers; `reason` completes "The request is malformed: …". */
export function malformed(reason: string, cause: unknown): ApiError {
  return new ApiError(HTTP_ERRORS.malformed_request, { params: { reason }, cause });
}
