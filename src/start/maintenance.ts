import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Request, Response } from 'express';
import { listenError } from '../core/config/listen-errors.js';
import type { Settings } from '../core/config/settings.js';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { writeRefusal } from '../core/errors/write-refusal.js';
import { AppLogger } from '../core/logging/app-logger.js';
import { ManagementServer } from '../core/metrics/management-server.js';
import { Metrics } from '../core/metrics/metrics.js';
import { plainServer } from '../core/plain-server.js';
import { plainTargetOf } from '../core/request-target.js';
import { MINUTE_MS } from '../core/time/duration.js';
import { assignRequestId } from '../http/request-records.js';
import { addressSubject } from '../throttling/quota-policy.js';
import { quotaHeaders, startOf, windowsOf } from '../throttling/quota.js';

/** `Retry-After`, in seconds. */
const RETRY_AFTER_S = 60;
const LIVE = JSON.stringify({ status: 'ok', info: {}, error: {}, details: {} });

/** A process in maintenance mode. */
export interface Maintenance {
  readonly server: Server;
  readonly logger: AppLogger;
  /** Closes its ports and flushes the log. */
  readonly stop: () => Promise<void>;
}

/**
 * Runs MAINTENANCE=on: responds with 503 to every request except /health/live, and serves metrics. Opens neither the database nor Redis,
 * takes no lock, and does no background work. Throws an error in plain words if it cannot listen.
 */
export async function serveMaintenance(settings: Settings): Promise<Maintenance> {
  const { host, port } = settings;
  const metrics = new Metrics();
  metrics
    .gauge('petstore_maintenance', '1 while the process is in maintenance mode; absent otherwise.')
    .set(1);
  const logger = new AppLogger(settings, metrics);
  const management = new ManagementServer(metrics, settings);
  const server = plainServer(respond);
  server.keepAliveTimeout = settings.keepAliveTimeoutMs;
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw listenError({ variable: 'PORT', port, host }, error);
  });
  await management.listen();
  const stop = async (): Promise<void> => {
    management.onApplicationShutdown();
    server.close();
    server.closeAllConnections();
    await logger.finish();
  };
  return { server, logger, stop };
}

const respond: RequestListener = (request, response) => {
  assignRequestId(request as Request, response as Response, () => undefined);
  if (isProbe(request)) {
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
    });
    response.end(LIVE);
    return;
  }
  const params = { reason: 'it is in maintenance mode' };
  const headers = { ...unusedQuota(Date.now()), 'Retry-After': String(RETRY_AFTER_S) };
  const refusal = new ApiError(HTTP_ERRORS.service_unavailable, { params, headers, isLogged: true });
  writeRefusal(refusal, request as Request, response as Response);
};

function isProbe({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && plainTargetOf(url)?.split('?', 1)[0] === '/health/live';
}

/** The headers of a caller whose key is not looked up: those of an address with its full limit, because nothing is counted. */
function unusedQuota(now: number): Readonly<Record<string, string>> {
  const windows = windowsOf(addressSubject('127.0.0.1')).map((window) => ({
    ...window,
    used: 0,
    remaining: window.limit,
    resetsAt: startOf(now, MINUTE_MS) + MINUTE_MS,
  }));
  return quotaHeaders({ admitted: true, at: now, windows });
}
