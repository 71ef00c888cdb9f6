import { type IncomingMessage, request as requestOverHttp } from 'node:http';
import { duplexPair } from 'node:stream';
import type { INestApplication } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { declaredScopes } from '../../auth/scopes.js';
import { clientIdOfUser } from '../../auth/credential-verifier.js';
import { serverOf } from '../../http/server/service-server.js';
import { assignRequestId } from '../../http/request-records.js';
import type { Service } from './service.js';

/**
 * The service in this process, over HTTP on in-memory connections. Without a port or socket file, no other process can connect. Its
 * requests have all scopes and no quota, log line, metric or usage.
 */
export function localService(app: INestApplication, by: Requester): Service {
  const application = app.getHttpAdapter().getInstance() as Parameters<typeof serverOf>[0];
  const user = by.from ?? '';
  const scopes = declaredScopes().map(({ name }) => name);
  const caller = { clientId: clientIdOfUser(user), keyId: null, user, scopes };
  let last: IncomingMessage | undefined;
  const server = serverOf(application).removeAllListeners('request');
  server.on('request', (request: Request, response: Response) => {
    last = Object.assign(request, { caller, requester: by });
    assignRequestId(request, response, () => application(request, response));
  });
  return {
    base: '/admin',
    open: (options) => {
      const [ours, theirs] = duplexPair();
      server.emit('connection', theirs);
      return requestOverHttp({ ...options, createConnection: () => ours });
    },
    thrown: () => last?.exception,
  };
}
