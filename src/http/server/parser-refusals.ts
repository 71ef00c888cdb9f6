import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../core/config/settings.js';
import type { Request, Response } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { UNREADABLE, rawResponse } from '../../core/errors/raw-response.js';
import { writeRefusal } from '../../core/errors/write-refusal.js';
import { helpLink } from '../../core/errors/help-link.js';
import { publicPrefix } from '../../core/public-prefix.js';
import { AppLogger } from '../../core/logging/app-logger.js';
import { RequestRecords, requestLine } from '../request-records.js';
import { addressSubject } from '../../throttling/quota-policy.js';
import { QuotaService } from '../../throttling/quota.service.js';
import type { CountedRefusal } from '../../throttling/quota-reports.js';
import { failBody } from '../body/read-body.js';
import { lingerBeforeClosing } from './service-server.js';

const NOT_COUNTED: CountedRefusal = { headers: {}, isLogged: true };

/** Responds to requests that Node's parser rejects with the Error body, counts them for the address, and ends the connection. */
@Injectable()
export class ParserRefusals {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly quota: QuotaService,
    private readonly settings: Settings,
    private readonly logger: AppLogger,
    private readonly records: RequestRecords,
  ) {}

  /**
   * Responds with this error to the request in progress, whose body is malformed or late, and ends the connection. The body fails as well,
   * because Node does not notify its reader after the response, and a handler that writes it to a file would wait forever. Before the
   * guards have run, there are no rate-limit headers yet. Then only the body fails, and the chain responds.
   */
  refuseInPlace(response: ServerResponse, row: ErrorRow): void {
    const { req } = response;
    const refusal = this.refusalOf(row);
    if (response.hasHeader('X-RateLimit-Limit')) {
      response.once('close', () => failBody(req, refusal));
      writeRefusal(refusal, req as Request, response as Response);
    } else if (!req.destroyed) failBody(req, refusal);
  }

  /** Responds with this error on a connection without a request in progress, and ends the connection. */
  refuse(socket: Socket, row: ErrorRow, headers = {}): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    const refusal = this.refusalOf(row, headers);
    const { remoteAddress } = socket;
    // The address is unknown once the connection is closed.
    const subject = remoteAddress === undefined ? undefined : addressSubject(remoteAddress);
    const counted = subject ? this.quota.countRefusal(subject) : Promise.resolve(NOT_COUNTED);
    void counted.catch(() => NOT_COUNTED).then((count) => this.end(socket, refusal, count, remoteAddress));
  }

  private refusalOf(row: ErrorRow, headers = {}): ApiError {
    const params = { ...UNREADABLE, limit: this.settings.bodyLimitBytes };
    return new ApiError(row, { params, headers });
  }

  private end(
    socket: Socket,
    { body, headers }: ApiError,
    { headers: quota, isLogged }: CountedRefusal,
    remoteAddress: string | undefined,
  ): void {
    // The client is gone, or already has a response.
    if (!socket.writable) return;
    const requestId = randomUUID();
    const { status, code } = body;
    if (isLogged && this.records.isLogged('info'))
      this.logger.pino.info(
        { requestId, address: this.records.loggedAddress(remoteAddress), route: 'unparsed', status, code },
        requestLine('unparsed', status, code),
      );
    this.records.count({ method: 'unparsed', route: 'unparsed', status }, 0, code);
    const help = helpLink(publicPrefix(this.settings.publicBaseUrl), code);
    socket.write(rawResponse(body, { ...headers, ...quota, ...help, 'X-Request-Id': requestId }));
    lingerBeforeClosing(socket);
    socket.destroySoon();
  }
}
