import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../core/config/settings.js';
import type { Request, Response } from 'express';
import { ApiError } from '../../core/errors/api-error.js';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { UNREADABLE, rawResponse, rowOf } from '../../core/errors/raw-response.js';
import { writeRefusal } from '../../core/errors/write-refusal.js';
import { helpLink } from '../../core/errors/help-link.js';
import { publicPrefix } from '../../core/public-prefix.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { AppLogger } from '../../core/logging/app-logger.js';
import { RequestRecords, requestLine } from '../request-records.js';
import { addressSubject } from '../../throttling/quota-subject.js';
import { QuotaService } from '../../throttling/quota.service.js';
import type { CountedRefusal } from '../../throttling/refused-addresses.js';
import { failBody } from '../body/read-body.js';
import { hasUnreadBody, lingerBeforeClosing } from './service-server.js';

const NOT_COUNTED: CountedRefusal = { headers: {}, isLogged: true };

/** Tells which response of a connection is in progress, so that a refusal is sent in the order of the requests. */
export interface AnswersInTurn {
  /** The response in progress on a connection; undefined if there is none. */
  answerOf(socket: Socket): ServerResponse | undefined;
  /** Calls back once everything that has arrived is answered. */
  afterAnswers(socket: Socket, callback: () => void): void;
  /** Gives a late head its time once more where the service has stopped reading it; false for any other. */
  allowAgain(socket: Socket, late: () => void): boolean;
}

/** Answers what Node's parser rejects with the Error body, counts it for the address, and ends the connection. */
@Injectable()
export class ParserRefusals {
  private readonly refused = new WeakSet<Socket>();

  constructor(
    private readonly quota: QuotaService,
    private readonly settings: Settings,
    private readonly logger: AppLogger,
    private readonly records: RequestRecords,
  ) {}

  /** Answers whatever the server's parser rejects, after the responses to the requests before it on the connection. */
  answer(server: Server, connections: AnswersInTurn): void {
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const row = rowOf(error);
      const current = connections.answerOf(socket);
      const refuse = (): void => connections.afterAnswers(socket, () => this.refuse(socket, row));
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
      // The body of the request in progress is malformed or late.
      else if (current && hasUnreadBody(current.req)) {
        if (current.headersSent) endAnswered(current);
        else this.refuseInPlace(current, row);
      }
      // A head that waits for the service itself is not late.
      else if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || !connections.allowAgain(socket, refuse)) refuse();
    });
    // CONNECT asks a proxy to connect to a target (RFC 9110 section 9.3.6). The service is no proxy: it refuses every target,
    // and a target of that form has no methods, which is what an empty Allow says (section 10.2.1).
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      connections.afterAnswers(socket, () =>
        this.refuse(socket, HTTP_ERRORS.method_not_allowed, { Allow: '' }),
      );
    });
  }

  /**
   * Answers the request in progress, whose body is malformed or late, with this row and ends the connection. Node tells the body's
   * reader nothing once the request is answered: without an error a handler that writes it to a file would wait for ever. Before
   * the guards have decided there are no rate-limit headers to send: then the body fails, and the request is answered by its chain.
   */
  refuseInPlace(response: ServerResponse, row: ErrorRow): void {
    const { req } = response;
    const refusal = this.refusalOf(row);
    if (response.hasHeader('X-RateLimit-Limit')) {
      response.once('close', () => failBody(req, refusal));
      writeRefusal(refusal, req as Request, response as Response);
    } else if (!req.destroyed) failBody(req, refusal);
  }

  /** Answers with this row on a connection without a request in progress, and ends the connection. */
  refuse(socket: Socket, row: ErrorRow, headers = {}): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    const refusal = this.refusalOf(row, headers);
    const { remoteAddress } = socket;
    this.count(remoteAddress).then(
      (count) => this.end(socket, refusal, count),
      () => this.end(socket, refusal, NOT_COUNTED),
    );
  }

  private refusalOf(row: ErrorRow, headers = {}): ApiError {
    const params = {
      ...UNREADABLE,
      limit: this.settings.bodyLimitBytes,
      method: 'CONNECT',
      allowed: 'none, because the service is no proxy',
    };
    return new ApiError(row, { params, headers });
  }

  /** The address is unknown once the connection is closed. */
  private async count(address: string | undefined): Promise<CountedRefusal> {
    return address === undefined ? NOT_COUNTED : this.quota.countRefusal(addressSubject(address));
  }

  private end(
    socket: Socket,
    { body, headers }: ApiError,
    { headers: quota, isLogged }: CountedRefusal,
  ): void {
    // The client is gone, or has been answered already: nothing is said twice.
    if (!socket.writable) return;
    const requestId = randomUUID();
    const { status, code } = body;
    if (isLogged)
      this.logger.pino.info(
        { requestId, route: 'unparsed', status, code },
        requestLine('unparsed', status, code),
      );
    this.records.count({ method: 'unparsed', route: 'unparsed', status }, 0, code);
    const help = helpLink(publicPrefix(this.settings.publicBaseUrl), code);
    socket.write(rawResponse(body, { ...headers, ...quota, ...help, 'X-Request-Id': requestId }));
    lingerBeforeClosing(socket);
    socket.destroySoon();
  }
}

/** Lets a response end that was begun before its request turned out malformed or late; one without an end yet is broken off. */
function endAnswered(response: ServerResponse): void {
  setImmediate(() => response.writableEnded || response.req.socket.destroy());
}
