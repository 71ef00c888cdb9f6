import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';

/** What a body has to be. */
export interface BodyRule {
  /** The media types or ranges that the operation takes, which a refusal names. */
  readonly types: readonly string[];
  /** Largest body, decoded, in bytes. */
  readonly limitBytes: number;
}

/**
 * The refusal of a body of another type, or in a coding that is not among those that are understood, which it names (RFC 9110
 * section 15.5.16).
 */
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

/** Decoders by content coding (RFC 9110 section 8.4.1). Any other coding is answered 415. */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The content codings that are understood. */
export const CODINGS: readonly string[] = ['gzip', 'deflate', 'br'];

/**
 * Reads the body of a request, decoded, and asks a client that waits for it to go on. Throws payload_too_large before it reads
 * a body that is announced to be longer than `limit` bytes, and at the limit of one that is not; unsupported_media_type for a
 * coding that is not understood; malformed_request for a body that is not what its coding says, or breaks off.
 */
export async function readBody(
  request: Request,
  response: Response,
  { limitBytes: limit, types }: BodyRule,
): Promise<Buffer> {
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decode = DECODERS[coding];
  const isUnderstood = decode !== undefined || coding === 'identity';
  // A chunked body may turn out to be empty; then its coding does not matter.
  if (!isUnderstood && request.headers['content-length'] !== undefined)
    throw unsupported(request, types, CODINGS);
  askForBody(request, response, limit);
  const bytes = await bytesOf(request, limit);
  if (bytes.length === 0) return bytes;
  if (!isUnderstood) throw unsupported(request, types, CODINGS);
  return decode ? decoded(bytes, decode, limit) : bytes;
}

/**
 * Asks a client that waits for it to go on with its body. Throws payload_too_large for one that is announced to be longer than
 * `limit` bytes, and what a body has failed with that has turned out to be malformed by now.
 */
export function askForBody(request: Request, response: Response, limit: number): void {
  if (request.errored) throw request.errored;
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  // HTTP/1.0 has no 100 Continue (RFC 9110 section 10.1.1).
  if (request.headers.expect?.toLowerCase() === '100-continue' && request.httpVersion === '1.1')
    response.writeContinue();
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
    const fail = (cause: Error): void =>
      end(cause instanceof ApiError ? cause : malformed('its body broke off', cause));
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

/** The refusal of a body of more than `limit` bytes. */
export function tooLarge(limit: number): ApiError {
  return new ApiError(HTTP_ERRORS.payload_too_large, { params: { limit } });
}

/** The refusal of a body that is not what its head says; `reason` completes "The request is malformed: …". */
export function malformed(reason: string, cause: unknown): ApiError {
  return new ApiError(HTTP_ERRORS.malformed_request, { params: { reason }, cause });
}
