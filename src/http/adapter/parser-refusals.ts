import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { Request, Response } from 'express';
import { ApiError } from '../../errors/api-error.js';
import type { ErrorRow } from '../../errors/define-errors.js';
import { writeRefusal } from '../../errors/error.filter.js';
import { HelpLinks } from '../../errors/help-link.js';
import { HTTP_ERRORS } from '../../errors/http.errors.js';
import { AppLogger } from '../../logging/app-logger.js';
import { requestLine } from '../../logging/request-log.middleware.js';
import { RequestMetricsMiddleware } from '../../metrics/request-metrics.middleware.js';
import { addressSubject } from '../../throttling/quota-subject.js';
import { quotaHeaders } from '../../throttling/quota-headers.js';
import { QuotaService } from '../../throttling/quota.service.js';
import { MOST_FIELDS } from './malformed-request.middleware.js';
import { failBody } from '../body/limited-body.js';
import { hasUnreadBody, lingerBeforeClosing } from './service-server.js';

/** The refusal for each code of Node's parser errors; every other parser error is a malformed request. */
const ROWS: Readonly<Record<string, ErrorRow>> = {
  HPE_HEADER_OVERFLOW: HTTP_ERRORS.headers_too_large,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: HTTP_ERRORS.payload_too_large,
  ERR_HTTP_REQUEST_TIMEOUT: HTTP_ERRORS.request_timeout,
};

/** Tells which response of a connection is in progress, so that a refusal is sent in the order of the requests. */
export interface AnswersInTurn {
  /** The response in progress on a connection; undefined if there is none. */
  answerOf(socket: Socket): ServerResponse | undefined;
  /** Calls back once everything that has arrived is answered. */
  afterAnswers(socket: Socket, callback: () => void): void;
}

/**
 * Answers what Node's HTTP parser rejects before there is a request, with the Error body, and ends the connection. This counts
 * towards no quota; the headers show the quota of the address that the connection comes from.
 */
@Injectable()
export class ParserRefusals {
  private readonly refused = new WeakSet<Socket>();
  private readonly help: HelpLinks;

  constructor(
    private readonly quota: QuotaService,
    private readonly settings: Settings,
    private readonly logger: AppLogger,
    private readonly metrics: RequestMetricsMiddleware,
  ) {
    this.help = new HelpLinks(settings.publicBaseUrl);
  }

  /** Answers whatever the server's parser rejects, after the responses to the requests before it on the connection. */
  answer(server: Server, connections: AnswersInTurn): void {
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const row = ROWS[error.code ?? ''] ?? HTTP_ERRORS.malformed_request;
      const current = connections.answerOf(socket);
      if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent) socket.destroy();
      // The body of the request in progress is malformed or late.
      else if (current && hasUnreadBody(current.req)) this.refuseInPlace(current, row);
      else connections.afterAnswers(socket, () => this.refuse(socket, row));
    });
    // CONNECT asks a proxy to connect to a target (RFC 9110 section 9.3.6). The service is no proxy: it refuses every target,
    // and a target of that form has no methods that Allow could name.
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      socket.on('error', () => socket.destroy());
      connections.afterAnswers(socket, () => this.refuse(socket, HTTP_ERRORS.method_not_allowed));
    });
  }

  /**
   * Answers the request in progress, whose body is malformed or late, with this row and ends the connection. Node tells the body's
   * reader nothing once the request is answered: without an error a handler that writes it to a file would wait for ever.
   */
  refuseInPlace(response: ServerResponse, row: ErrorRow): void {
    const refusal = this.refusalOf(row);
    response.once('close', () => failBody(response.req, refusal));
    writeRefusal(refusal, response.req as Request, response as Response);
  }

  /** Answers with this row on a connection without a request in progress, and ends the connection. */
  refuse(socket: Socket, row: ErrorRow): void {
    if (this.refused.has(socket)) return;
    this.refused.add(socket);
    const refusal = this.refusalOf(row);
    const { remoteAddress } = socket;
    this.quotaOf(remoteAddress).then(
      (headers) => this.end(socket, refusal, headers),
      () => this.end(socket, refusal, {}),
    );
  }

  private refusalOf(row: ErrorRow): ApiError {
    const params = {
      reason: 'it cannot be read as HTTP/1.1',
      limit: this.settings.bodyLimitBytes,
      fields: MOST_FIELDS,
      method: 'CONNECT',
      allowed: 'none, because the service is no proxy',
    };
    return new ApiError(row, { params });
  }

  /** The quota headers of an address; none if the address is unknown, because the connection is closed. */
  private async quotaOf(address: string | undefined): Promise<Readonly<Record<string, string>>> {
    if (address === undefined) return {};
    const { at, windows } = await this.quota.look(addressSubject(address));
    return quotaHeaders({ admitted: true, at, windows });
  }

  private end(socket: Socket, { body, headers }: ApiError, quota: Readonly<Record<string, string>>): void {
    const requestId = randomUUID();
    const { status, code } = body;
    this.logger.pino.info(
      { requestId, route: 'unparsed', status, code },
      requestLine('unparsed', status, code),
    );
    this.metrics.count({ method: 'unparsed', route: 'unparsed', status: String(status) }, 0, code);
    if (!socket.writable) return;
    socket.write(
      rawResponse(body, { ...headers, ...quota, ...this.linkOf(code), 'X-Request-Id': requestId }),
    );
    lingerBeforeClosing(socket);
    socket.destroySoon();
  }

  private linkOf(code: string): { Link?: string } {
    const link = this.help.of(code);
    return link === undefined ? {} : { Link: link };
  }
}

function rawResponse(body: ApiError['body'], headers: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(body);
  const fields = {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status] ?? ''}\r\n${lines.join('')}\r\n${text}`;
}
