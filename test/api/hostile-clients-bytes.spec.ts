import { once } from 'node:events';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openSocket, receivedBy, sendRaw, statusesIn } from '../support/raw-http.js';
import { openForAll } from '../support/opened.js';

const END = '\r\n\r\n';

const service = await openForAll();
/** A service with short time limits, for clients that keep it waiting: every other one may be as slow as this machine. */
const limits = { HEADERS_TIMEOUT_MS: '2000', REQUEST_TIMEOUT_MS: '3000', RESPONSE_TIMEOUT_MS: '2000' };
const hasty = await openForAll({ environment: limits });

const withKey = ({ key } = service) => `Authorization: Bearer ${key}\r\n`;

const open = (to = service): Promise<Socket> => openSocket(to.url);

/** Until more can be written, or never again. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      socket.off('drain', end).off('close', end);
      resolve();
    };
    socket.on('drain', end).on('close', end);
  });
}

describe('a body that is too large', () => {
  const head = () => `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${withKey()}`;

  it.each([
    ['announced with 2^53 bytes', 'Content-Length: 9007199254740992\r\n'],
    ['announced, and asked about first', 'Content-Length: 102401\r\nExpect: 100-continue\r\n'],
    ['of a coding that is not understood', 'Content-Length: 50\r\nContent-Encoding: zstd\r\n'],
  ])('is refused before any of it was sent: %s', async (_, announced) => {
    const text = await sendRaw(service.url, `${head()}${announced}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 4(13|15) [^]*connection: close/i);
    expect(text).not.toMatch(/100 Continue/);
  });

  it('is refused at the limit when it has no end, and read no further', async () => {
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(`${head()}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    let sent = 0;
    while (!socket.destroyed && sent < 200) {
      sent += 1;
      if (!socket.write(chunk)) await drained(socket);
    }
    socket.destroy();
    const text = await received;
    expect(text).toMatch(/^HTTP\/1\.1 413 [^]*connection: close/i);
    // What the kernels of both sides hold is all that the client could send.
    expect(sent).toBeLessThan(200);
  });

  it.each([
    ['without a key', (length: string) => `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${length}`, 401],
    ['above the limit', (length: string) => `${head()}${length}`, 413],
    ['of another type', (length: string) => `${head().replace('json', 'x')}${length}`, 415],
    ['for no route', (length: string) => `POST /nothing HTTP/1.1\r\nHost: a\r\n${length}`, 404],
    ['without a method', (length: string) => `PUT /health/live HTTP/1.1\r\nHost: a\r\n${length}`, 405],
    ['in chunks', () => `${head()}Transfer-Encoding: chunked\r\n`, 413],
    ['in a malformed request', () => `${head()}Transfer-Encoding: a\r\n`, 400],
    ['asked about first', (length: string) => `${head()}${length}Expect: 100-continue\r\n`, 413],
  ])('is refused where its client reads nothing before it has sent 5 MB: %s', async (_, request, status) => {
    const socket = (await open()).pause();
    const body = Buffer.alloc(5 * 1_024 * 1_024, `10000\r\n${' '.repeat(65_536)}\r\n`);
    socket.write(`${request(`Content-Length: ${body.length}\r\n`)}\r\n`);
    const failed = await new Promise((resolve) => socket.write(body, resolve));
    expect(failed ?? undefined).toBeUndefined();
    const received = receivedBy(socket);
    socket.resume();
    expect(statusesIn(await received)).toEqual([status]);
  });

  it('is refused though compressed to little', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    const socket = await open();
    const received = receivedBy(socket);
    socket.write(
      `${head()}Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: ${bomb.length}\r\n\r\n`,
    );
    socket.write(bomb);
    expect(statusesIn(await received)).toEqual([413]);
  });

  it('is requested once nothing else refuses it', async () => {
    const socket = await open();
    const received = receivedBy(socket);
    const body = '{"name":"Waited","categoryId":1}';
    socket.write(
      `${head()}Expect: 100-continue\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const [first] = (await once(socket, 'data')) as [string];
    expect(first).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    expect(statusesIn(await received)).toEqual([100, 201]);
  });
});

describe('a client that stops sending', () => {
  it.each([
    ['before the first byte', () => ''],
    ['in the middle of the head', () => 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n'],
    [
      'in the middle of the body',
      () =>
        `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${withKey(hasty)}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    ],
  ])('gets 408 with the Error body: %s', async (_, bytes) => {
    const text = await sendRaw(hasty.url, bytes());
    expect(statusesIn(text).at(-1)).toBe(408);
    expect(text).toMatch(/"code":"request_timeout"/);
    // That of its own key, once that is known.
    expect(text).toMatch(
      bytes().includes(hasty.key) ? /x-ratelimit-limit: 1000\r\n/i : /x-ratelimit-limit: \d+/i,
    );
  });
});

describe('a connection that is reused', () => {
  it('may bring an empty line between two requests', async () => {
    const socket = await open(hasty);
    const received = receivedBy(socket);
    socket.write(`GET /health/live HTTP/1.1\r\nHost: a${END}`);
    await once(socket, 'data');
    socket.write('\r\n');
    // Until the limit of a head has passed, as another connection notices it.
    for (let round = 0; round < 2; round += 1)
      expect(await sendRaw(hasty.url, 'GET')).toMatch(/^HTTP\/1\.1 408 /);
    socket.write(`GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close${END}`);
    expect(statusesIn(await received)).toEqual([200, 200]);
  });
});

describe('the limits of a head', () => {
  it.each([
    ['101 fields', 'a: b\r\n'.repeat(100), /^HTTP\/1\.1 431 [^]*"code":"headers_too_large"/],
    ['100 fields', `Connection: close\r\n${'a: b\r\n'.repeat(97)}`, /^HTTP\/1\.1 200 /],
  ])('are above 100 fields: %s', async (_, fields, response) => {
    const text = await sendRaw(service.url, `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${fields}${withKey()}\r\n`);
    expect(text).toMatch(response);
  });

  it('white space without end is refused when the time for a head is over', async () => {
    const socket = await open(hasty);
    const received = receivedBy(socket);
    socket.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\nX:');
    const spaces = ' '.repeat(65_536);
    while (!socket.destroyed) if (!socket.write(spaces)) await drained(socket);
    expect(statusesIn(await received)).toEqual([408]);
  });
});
