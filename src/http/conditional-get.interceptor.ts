import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { REQUIRED_SCOPES } from '../auth/auth.decorators.js';
import { routeTemplateOf } from '../metrics/route-template.js';
import { AnswerMemory } from './answers/answer-memory.js';
import { REMEMBERED } from './answers/remembered.decorator.js';
import { entityTag, writeRevalidated } from './conditional-get.js';
import { DEPRECATION, type Deprecation } from './deprecation/deprecated.decorator.js';

/**
 * Gives every text that GET or HEAD answers with 200 a strong `ETag`, and answers 304 to a client that has it already. A
 * handler that sets `Cache-Control` itself is left alone. What a `@Remembered()` operation answers is remembered here.
 */
@Injectable()
export class ConditionalGetInterceptor implements NestInterceptor {
  constructor(
    private readonly answers: AnswerMemory,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.method !== 'GET' && request.method !== 'HEAD') return next.handle();
    const response = http.getResponse<Response>();
    // Before the handler reads: what is committed meanwhile makes the answer too old to be remembered.
    const state = this.answers.state();
    const before = response.getHeaders();
    return next.handle().pipe(
      map((body: unknown) => {
        if (typeof body !== 'string' || response.statusCode !== 200 || response.hasHeader('Cache-Control'))
          return body;
        const tag = entityTag(body, String(response.getHeader('Link') ?? ''));
        if (request.method === 'GET') this.remember(context, request, response, before, body, tag, state);
        if (!writeRevalidated(request, response, tag)) return body;
        response.removeHeader('Content-Type');
        return undefined;
      }),
    );
  }

  private remember(
    context: ExecutionContext,
    request: Request,
    response: Response,
    before: Readonly<Record<string, unknown>>,
    body: string,
    tag: string,
    state: number | undefined,
  ): void {
    const handler = context.getHandler();
    if (!this.reflector.get<boolean | undefined>(REMEMBERED, handler)) return;
    // What CORS sets for a page in a browser is for its origin; without one it is the same for everybody.
    if (request.headers.origin !== undefined) return;
    const set = response
      .getHeaderNames()
      .filter((name) => response.getHeader(name) !== before[name] || isOfCors(name));
    const answer = {
      body: Buffer.from(body),
      tag,
      headers: set.map((name) => [name, String(response.getHeader(name))] as const),
      scopes: this.reflector.getAllAndMerge<string[]>(REQUIRED_SCOPES, [handler, context.getClass()]),
      deprecation: this.reflector.get<Deprecation | undefined>(DEPRECATION, handler),
      template: routeTemplateOf(request),
    };
    this.answers.remember(request.originalUrl, answer, state);
  }
}

function isOfCors(name: string): boolean {
  return name === 'vary' || name.startsWith('access-control-');
}
