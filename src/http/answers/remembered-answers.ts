import type { RequestListener, Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ApiKey } from '../../auth/api-key.entity.js';
import { ApiKeyVerifier } from '../../auth/api-key.verifier.js';
import { identify } from '../../auth/identify.js';
import { KeyUseService } from '../../auth/key-use.service.js';
import { writeRefusal } from '../../errors/error.filter.js';
import { RequestLogMiddleware } from '../../logging/request-log.middleware.js';
import { RequestMetricsMiddleware } from '../../metrics/request-metrics.middleware.js';
import { QuotaService } from '../../throttling/quota.service.js';
import { writeRevalidated } from '../conditional-get.js';
import { DeprecationService } from '../deprecation/deprecation.service.js';
import { assignRequestId } from '../../logging/request-id.middleware.js';
import { AnswerMemory, type RememberedAnswer } from './answer-memory.js';

const ACCEPTS_JSON = new Set([undefined, '*/*', 'application/json']);
const done = (): void => undefined;

/**
 * Answers in front of Express what was answered a moment ago, to a key that was verified a moment ago: without Express,
 * Nest's chain, the database, validation and serialization. It takes the same steps through the same services, and leaves
 * to the chain whatever it cannot answer; test/remembered-answers.spec.ts holds both against each other.
 */
@Injectable()
export class RememberedAnswers {
  constructor(
    private readonly answers: AnswerMemory,
    private readonly verifier: ApiKeyVerifier,
    private readonly keyUse: KeyUseService,
    private readonly quota: QuotaService,
    private readonly deprecations: DeprecationService,
    private readonly log: RequestLogMiddleware,
    private readonly metrics: RequestMetricsMiddleware,
  ) {}

  /** Takes the requests of a server that Express has been taking until now, and hands on those that are its own. */
  standInFrontOf(server: Server): void {
    const [express] = server.listeners('request') as RequestListener[];
    if (!express) throw new Error('There is nobody to stand in front of.');
    server.removeListener('request', express);
    server.on('request', (request, response) => {
      if (!this.takes(request as Request, response as Response)) express(request, response);
    });
  }

  /** Answers the request if what it asks for is remembered; else touches nothing. */
  private takes(request: Request, response: Response): boolean {
    const { method, headers, url } = request;
    // An origin is for CORS, a missing host for a refusal: the chain knows them.
    if (method !== 'GET' || headers.origin !== undefined || headers.host === undefined) return false;
    if (!ACCEPTS_JSON.has(headers.accept)) return false;
    const answer = this.answers.recall(url);
    const key = answer && this.verifier.recall(headers.authorization);
    if (!answer || !key || !mayHave(key, answer)) return false;
    this.answer(request, response, key, answer).catch((refusal: unknown) =>
      writeRefusal(refusal, request, response),
    );
    return true;
  }

  private async answer(
    request: Request,
    response: Response,
    key: ApiKey,
    { body, tag, headers, deprecation, template }: RememberedAnswer,
  ): Promise<void> {
    request.route = { path: template };
    assignRequestId(request, response, done);
    this.log.use(request, response, done);
    this.metrics.use(request, response, done);
    if (deprecation) this.deprecations.announce(deprecation, response);
    identify(request, key);
    this.keyUse.note(key.id);
    await this.quota.take(request, response);
    if (deprecation) this.deprecations.admit(deprecation, request);
    for (const [name, value] of headers) response.setHeader(name, value);
    if (writeRevalidated(request, response, tag)) {
      response.removeHeader('Content-Type');
      response.end();
    } else {
      response.setHeader('Content-Length', body.length);
      response.end(body);
    }
  }
}

/** Everything else is refused by the chain. */
function mayHave({ client, scopes: held }: ApiKey, { scopes }: RememberedAnswer): boolean {
  return client.suspendedAt === null && scopes.every((scope) => held.includes(scope));
}
