import { Injectable, type ExecutionContext } from '@nestjs/common';
import { raw, type Request, type RequestHandler, type Response } from 'express';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { parseExactJson } from './exact-json.js';
import { PromisedInterceptor } from './promised.interceptor.js';

const BODY_BYTES = Symbol('body bytes');

type RequestWithBytes = Request & { [BODY_BYTES]?: Buffer };

/** The body of a request as sent, once it has been read; empty without one. */
export function bodyBytesOf(request: Request): Buffer {
  return (request as RequestWithBytes)[BODY_BYTES] ?? Buffer.alloc(0);
}

/** `application/json`, alone or with a charset parameter of UTF-8 (RFC 8259 section 8.1 knows no other). */
const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;
/** Throws for anything else. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Reads and parses the JSON body. It is an interceptor because those run behind the guards: a caller without
 * a valid key, scope or quota never gets a body parsed.
 */
@Injectable()
export class JsonBodyInterceptor extends PromisedInterceptor {
  private readonly read: RequestHandler;

  constructor(private readonly settings: Settings) {
    super();
    this.read = raw({ type: () => true, limit: settings.bodyLimitBytes });
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!BODILESS.has(request.method) && hasBody(request)) {
      request.body = await this.parse(request, http.getResponse<Response>());
    }
    return next();
  }

  private async parse(request: Request, response: Response): Promise<unknown> {
    if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
      throw new ApiError(HTTP_ERRORS.unsupported_media_type);
    const bytes = await this.bytesOf(request, response);
    (request as RequestWithBytes)[BODY_BYTES] = bytes;
    try {
      return parseExactJson(UTF8.decode(bytes));
    } catch (error) {
      throw new ApiError(HTTP_ERRORS.malformed_json, { params: { reason: reasonOf(error) }, cause: error });
    }
  }

  private bytesOf(request: Request, response: Response): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.read(request, response, (error?: unknown) => {
        if (error === undefined) resolve(request.body as Buffer);
        else reject(this.refusalOf(error, response));
      });
    });
  }

  /** What the body reader throws, by the `type` that it documents. */
  private refusalOf(error: unknown, response: Response): unknown {
    const { type, status } = error as { type?: string; status?: number };
    if (type === 'entity.too.large') {
      // The rest of the body is not worth reading only to keep the connection.
      response.setHeader('Connection', 'close');
      return new ApiError(HTTP_ERRORS.payload_too_large, { params: { limit: this.settings.bodyLimitBytes } });
    }
    if (status === 415) return new ApiError(HTTP_ERRORS.unsupported_media_type);
    if (status === 400) return new ApiError(HTTP_ERRORS.malformed_request, { cause: error });
    // What zlib says of a body that is not what its Content-Encoding claims.
    if (String((error as { code?: string }).code).startsWith('Z_')) {
      return new ApiError(HTTP_ERRORS.malformed_request, { cause: error });
    }
    return error;
  }
}

/** RFC 9112 section 6: a request has a body when it announces one. */
function hasBody(request: Request): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return error.message.replace(/\.$/, '');
  return 'it is not UTF-8';
}
