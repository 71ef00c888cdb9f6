import { HttpException, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiKeyVerifier } from '../../auth/api-key.verifier.js';
import { refuseSuspended } from '../../auth/clients/key-refusals.js';
import { OtherCredentials } from '../../auth/other-credentials.js';
import { refuseWithoutScopes } from '../../auth/scopes.guard.js';
import { writeRefusal } from '../../core/errors/write-refusal.js';
import { isEventStream } from '../../core/event-stream.js';
import { lingerBeforeClosing } from './service-server.js';

/** Statuses that are not about the caller: an unavailable verifier or database, or too many verifications. */
const TRANSIENT: ReadonlySet<number> = new Set([429, 503]);

/** Rechecks credentials and scopes of event streams, which would otherwise outlast them. */
@Injectable()
export class EventStreams {
  constructor(
    private readonly keys: ApiKeyVerifier,
    private readonly others: OtherCredentials,
  ) {}

  /**
   * Ends an event stream and closes its connection if its caller would be refused now; the last event has the Error body. Does not count
   * for the caller or its address. Never rejects.
   */
  async check(response: Response): Promise<void> {
    const { req: request } = response;
    const { caller, operation } = request;
    // A public route.
    if (!caller) return;
    try {
      const held = await this.scopesOf(request);
      refuseWithoutScopes(operation?.scopes ?? [], held);
    } catch (refusal) {
      const isTransient = refusal instanceof HttpException && TRANSIENT.has(refusal.getStatus());
      if (isTransient || !isEventStream(response)) return;
      // Closing the connection ends the source of the events.
      response.once('finish', () => {
        lingerBeforeClosing(request.socket);
        request.socket.destroySoon();
      });
      writeRefusal(refusal, request, response);
    }
  }

  /** The current scopes of a request's credential. Throws the same errors as ApiKeyGuard. */
  private async scopesOf(request: Request): Promise<readonly string[]> {
    const { authorization } = request.headers;
    const token = this.others.tokenIn(authorization);
    if (token !== undefined) return (await this.others.verify(token, request)).caller.scopes;
    const key = this.keys.cached(authorization) ?? (await this.keys.find(this.keys.digestIn(authorization)));
    refuseSuspended(key.client);
    return key.scopes;
  }
}
