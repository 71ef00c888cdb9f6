import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Requester } from '../../auth/clients/audited-changes.js';
import { callerOf } from '../../auth/caller.js';
import type { Audience } from './audience.js';
import { requestIdOf } from '../request-records.js';
import { reading } from '../../core/execution-context.js';
import { addressOf } from '../../core/request-address.js';

/**
 * Handler parameter: the caller of an administrative operation, for the audit trail and the scopes that it may grant; for key holders, with
 * the client that it is limited to. Throws no_account.
 */
export const CurrentRequester = createParamDecorator(
  reading('head', (audience: Audience | undefined, context: ExecutionContext): Requester => {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.requester) return request.requester;
    const caller = callerOf(request);
    return {
      kind: caller?.keyId === null ? 'user' : 'key',
      keyId: caller?.keyId ?? caller?.clientId ?? null,
      from: addressOf(request) ?? null,
      requestId: requestIdOf(http.getResponse<Response>()),
      scopes: caller?.scopes ?? [],
      ...audience?.holderOf?.(caller),
    };
  }),
);
