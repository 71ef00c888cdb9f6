import type { NextFunction, Request, Response } from 'express';
import { expect, it } from 'vitest';
import { sendRaw } from '../support/raw-http.js';
import { openForTest } from '../support/opened.js';

const MANY = 200;

/** How many requests are being carried out, now and at most. */
const running = { now: 0, most: 0 };

/** Slower than the limits on heads allow for all requests together. */
function slow(_: Request, response: Response, next: NextFunction): void {
  running.now += 1;
  running.most = Math.max(running.most, running.now);
  response.once('close', () => (running.now -= 1));
  setTimeout(next, 15);
}

it('are carried out and answered in turn, however long that takes: no head is late that the service has not read yet', async () => {
  const service = await openForTest({
    environment: { HEADERS_TIMEOUT_MS: '1000' },
    prepare: (app) => app.use(slow),
  });
  const get = (more = '') =>
    `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\nX-Pad: ${'x'.repeat(700)}\r\nAuthorization: Bearer ${service.key}\r\n${more}\r\n`;
  const received = await sendRaw(service.url, get().repeat(MANY - 1) + get('Connection: close\r\n'));
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
  expect(statuses).toEqual(Array.from({ length: MANY }, () => '200'));
  expect(running).toEqual({ now: 0, most: 1 });
});
