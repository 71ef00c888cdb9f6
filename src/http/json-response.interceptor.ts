import {
  Injectable,
  StreamableFile,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { writeExactJson } from './exact-json.js';

/** Writes what a handler answers as JSON, with every `bigint` exact; JSON.stringify would throw on one. */
@Injectable()
export class JsonResponseInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((body: unknown) => this.write(response, body)));
  }

  private write(response: Response, body: unknown): unknown {
    if (body === undefined || body instanceof StreamableFile || response.headersSent) return body;
    if (response.hasHeader('Content-Type')) return body;
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    return writeExactJson(body);
  }
}
