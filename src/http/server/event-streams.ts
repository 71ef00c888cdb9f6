import { HttpException, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ApiKeyVerifier } from '../../auth/api-key.verifier.js';
import { refuseSuspended } from '../../auth/clients/key-refusals.js';
import { OtherCredentials } from '../../auth/other-credentials.js';
import { refuseWithoutScopes } from '../../auth/scopes.guard.js';
import { writeRefusal } from '../../core/errors/write-refusal.js';
import { isEventStream } from '../../core/event-stream.js';
import { lingerBeforeClosing } from './service-server.js';

/** What says nothing about the caller: a verifier or a database that is unavailable, and a verifier that is asked too often. */
const TRANSIENT: ReadonlySet<number> = new Set([429, 503]);

/** Asks again for the credential and the scopes of event streams, which would outlast them. */
@Injectable()
export class EventStreams {
  constructor(
    private readonly keys: ApiKeyVerifier,
    private readonly others: OtherCredentials,
  ) {}

  /**
   * Ends an event stream, and closes its connection, if its caller would be refused now; the last event has the Error body. Nothing
   * counts for the caller or its address. Never rejects.
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
      // The source of the events ends with the connection.
      response.once('finish', () => {
        lingerBeforeClosing(request.socket);
        request.socket.destroySoon();
      });
      writeRefusal(refusal, request, response);
    }
  }

  /** The scopes that the credential of a request has now; throws what ApiKeyGuard throws for it. */
  private async scopesOf(request: Request): Promise<readonly string[]> {
    const { authorization } = request.headers;
    const token = this.others.tokenIn(authorization);
    if (token !== undefined) return (await this.others.verify(token, request)).caller.scopes;
    const digest = this.keys.digestIn(authorization);
    const key = this.keys.cached(digest) ?? (await this.keys.find(digest));
    refuseSuspended(key.client);
    return key.scopes;
  }
}
