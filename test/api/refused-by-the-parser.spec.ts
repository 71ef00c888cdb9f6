import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Socket, connect } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { AppLogger } from '../../src/core/logging/app-logger.js';
import { parseRaw, sendRaw } from '../support/raw-http.js';
import { openForAll, openForTest } from '../support/opened.js';

/** What waits until the test lets it go. */
let waiting: (() => void)[] = [];
const wait = () => new Promise<void>((resolve) => waiting.push(resolve));
const letGo = (): void => waiting.splice(0).forEach((go) => go());

@Controller({ path: 'waits', version: '1' })
class WaitsController {
  @Get()
  async waits(): Promise<string> {
    await wait();
    return 'done';
  }
}

@Module({ controllers: [WaitsController] })
class WaitsModule {}

/** What the log was given since the test started. */
const lines: Record<string, unknown>[] = [];
const service = await openForAll({ environment: { LOG_LEVEL: 'info' }, modules: [WaitsModule] });
beforeEach(() => {
  const { pino } = service.app.get(AppLogger);
  for (const level of ['info', 'error'] as const)
    vi.spyOn(pino, level).mockImplementation((fields: unknown) => {
      lines.push({ level, ...(fields as object) });
    });
  lines.length = 0;
  // What is refused counts for the address, by minutes.
  service.clock.advance(60_000);
});

const END = '\r\n\r\n';
const authorization = () => `Authorization: Bearer ${service.key}\r\n`;
/** The head of a POST as far as its framing. */
const post = (hasKey: boolean, path = '/v1/pets') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${hasKey ? authorization() : ''}Content-Type: application/json\r\n`;
const CHUNKED = `Transfer-Encoding: chunked${END}`;
const withKey = () => `Authorization: Bearer ${service.key}\r\nConnection: close`;

describe('what never becomes a request', () => {
  it.each([
    ['no HTTP at all', `hello${END}`, 400, 'malformed_request'],
    ['an unknown method', `FETCH /v1/pets HTTP/1.1\r\nHost: a${END}`, 400, 'malformed_request'],
    ['HTTP/2', `GET /v1/pets HTTP/2.0\r\nHost: a${END}`, 400, 'malformed_request'],
    [
      'a length beside a transfer coding',
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked${END}`,
      400,
      'malformed_request',
    ],
    [
      'headers of 20 KiB',
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}${END}`,
      431,
      'headers_too_large',
    ],
    ...['identity', 'chunked, xchunked', 'xchunked, chunked'].flatMap((coding) =>
      ['', 'with a key, '].map((key): [string, () => string, number, string] => [
        `${key}Transfer-Encoding: ${coding}`,
        () => `${post(key !== '')}Transfer-Encoding: ${coding}${END}`,
        400,
        'malformed_request',
      ]),
    ),
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\nHost: a${END}`, 405, 'method_not_allowed'],
    ['a TLS greeting', Buffer.from('16030100dc010000d80303', 'hex'), 400, 'malformed_request'],
  ] as [string, string | Buffer | (() => string), number, string][])(
    'gets the Error body: %s',
    async (_, sent, expected, code) => {
      const bytes = typeof sent === 'function' ? sent() : sent;
      const { status, body, head } = parseRaw(await sendRaw(service.url, bytes));
      expect(status).toBe(expected);
      expect(body).toEqual({ code, message: expect.any(String), status: expected });
      expect(head).toMatch(/content-type: application\/json/i);
      expect(head).toMatch(/x-request-id: [\w-]{36}/i);
      expect(head).toMatch(/connection: close/i);
      expect(head).toMatch(/x-ratelimit-limit: 60\r\nx-ratelimit-remaining: 59\r\n/i);
      expect(head).toMatch(/^date: \w{3}, [\w :]+ GMT\r?$/im);
      // Other lines are of what the service does in the background.
      const ofRequests = lines.filter(({ route }) => route !== undefined);
      expect(ofRequests.map(({ level }) => level)).toEqual(['info']);
    },
  );
});

describe('what is unusual, but a request', () => {
  const refused = (what: string, line: string, fields = 'Host: a'): [string, () => string, number] => [
    what,
    () => `${line} HTTP/1.1\r\n${fields}\r\n${withKey()}${END}`,
    400,
  ];
  it.each<[string, () => string, number]>([
    refused('an authority that is none', 'GET http://[/v1/pets'),
    refused('an asterisk with GET', 'GET *'),
    refused('two Hosts', 'GET /v1/pets', 'Host: a\r\nHost: b'),
    refused('a Host with a path', 'GET /v1/pets', 'Host: a/b'),
    refused('two types', 'POST /v1/pets', 'Host: a\r\nContent-Type: a/b\r\nContent-Type: a/b'),
    refused('two keys', 'GET /v1/pets', 'Host: a\r\nAuthorization: Bearer x'),
    refused('a coded transfer', 'POST /v1/pets', 'Host: a\r\nTransfer-Encoding: gzip, chunked'),
    ['HTTP/1.0', () => `GET /v1/pets HTTP/1.0\r\n${withKey()}${END}`, 200],
    [
      'the absolute form of the target',
      () => `GET http://a/v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`,
      200,
    ],
    refused('a target whose port is none', 'GET http://a:port/v1'),
    refused('a target with a fragment', 'GET /v1/pets?limit=1#x'),
    refused('an absolute target with a fragment', 'GET http://a/v1/pets#x'),
    ['an upgrade', () => `GET /v1/pets HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n${withKey()}${END}`, 200],
    ['the asterisk form', () => `OPTIONS * HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    refused('a path without a slash', 'GET v1/pets'),
    ['two slashes', () => `GET //v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a path of dots', () => `GET /v1/../v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a trailing slash', () => `GET /v1/pets/ HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 404],
    ['a trace', () => `TRACE /v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}${END}`, 405],
    [
      'a body in chunks',
      () =>
        `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${withKey()}${END}` +
        `10\r\n{"name":"Chunk",\r\n10\r\n"categoryId": 1}\r\n0${END}`,
      201,
    ],
  ])('%s', async (_, request, expected) => {
    const text = await sendRaw(service.url, request());
    expect(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])).toBe(expected);
    if (expected >= 400) expect(parseRaw(text).body).toMatchObject({ status: expected });
    if (expected === 400) expect(text).toMatch(/x-ratelimit-remaining: \d+[^]*"code":"malformed_request"/i);
  });

  it.each(['/%761/pets', '/v1/%70%65%74%73'])(
    'an encoded letter, digit, hyphen, period, underscore or tilde is the character itself: %s',
    async (path) => {
      for (let name = 0; name < 2; name += 1)
        await service.request('POST', path, { json: { name: 'One', categoryId: 1 } });
      lines.length = 0;
      const [plain, encoded] = [
        await service.request('GET', '/v1/pets?limit=1'),
        await service.request('GET', `${path}?limit=1`),
      ];
      expect([encoded.status, encoded.text]).toEqual([200, plain.text]);
      for (const name of ['link', 'etag']) expect(encoded.headers.get(name)).toBe(plain.headers.get(name));
      expect(encoded.headers.get('link')).toContain('</v1/pets?limit=1&cursor=');
      expect(lines.map(({ route }) => route)).toEqual(['/v1/pets', '/v1/pets']);
    },
  );
});

/** A connection, with the server's end of it; `responses` are those received until it was closed, each with its head. */
async function connected(): Promise<{ client: Socket; server: Socket; responses: Promise<string[]> }> {
  const accepted = once(service.app.getHttpServer() as Server, 'connection') as Promise<[Socket]>;
  const client = connect(Number(new URL(service.url).port), '127.0.0.1').setEncoding('utf8');
  let received = '';
  client.on('data', (chunk: string) => (received += chunk)).on('error', () => client.destroy());
  const responses = once(client, 'close').then(() => received.split(/(?=HTTP\/1\.1 )/));
  return { client, server: (await accepted)[0], responses };
}

/** Sends parts on a connection, each when the server has read those before it; returns what came back. */
async function sendParts(parts: readonly string[]): Promise<string[]> {
  const { client, server, responses } = await connected();
  let sent = 0;
  for (const part of parts) {
    await expect.poll(() => server.bytesRead, { interval: 1 }).toBe(sent);
    client.write(part);
    sent += part.length;
  }
  return responses;
}

const statusOf = (response: string | undefined) => Number(response?.slice(9, 12));
const statusesOf = (responses: readonly string[]) => responses.map(statusOf);
const loggedStatuses = () => lines.map(({ level, status }) => [level, status]);

describe('a body that the parser refuses', () => {
  const internalErrors = () => service.metric('petstore_refusals_total', { code: 'internal_error' });

  it.each([true, false])('gets one 400, however its bytes are split; with a key: %s', async (hasKey) => {
    const head = post(hasKey) + CHUNKED;
    const bytes = `${head}zz\r\n`;
    const from = head.length - 6;
    for (let at = from; at <= bytes.length; at += 1) {
      service.clock.advance(60_000);
      lines.length = 0;
      const responses = await sendParts([bytes.slice(0, at), bytes.slice(at)]);
      // Without a key, the head alone gets a response.
      const expected = !hasKey && at === head.length ? 401 : 400;
      expect(statusesOf(responses), `split at ${at - head.length}`).toEqual([expected]);
      expect(responses[0]).toMatch(/\r\nx-ratelimit-remaining: \d+\r\n/i);
      expect(responses[0]).toMatch(/\r\ndate: /i);
      await expect.poll(() => lines.length).toBe(1);
      expect(loggedStatuses()).toEqual([['info', statusOf(responses[0])]]);
    }
    expect(await internalErrors()).toBe(0);
  });

  it.each(['', 'Connection: keep-alive\r\n'])(
    'is refused after the requests that were pipelined before it: %s',
    async (field) => {
      const good = `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${field}${authorization()}\r\n`;
      const bad = `${post(true)}${field}${CHUNKED}`;
      for (const parts of [
        [`${good}${good}${bad}zz\r\n`],
        [good, `${good}${bad}zz\r\n`],
        [good + good, `${bad}zz\r\n`],
        [good + good + bad, 'zz\r\n'],
      ]) {
        lines.length = 0;
        expect(statusesOf(await sendParts(parts))).toEqual([200, 200, 400]);
        await expect.poll(loggedStatuses).toEqual([200, 200, 400].map((status) => ['info', status]));
      }
    },
  );

  it('is refused immediately while the handler runs, whose response is dropped', async () => {
    const { client, responses } = await connected();
    client.write(`GET /v1/waits HTTP/1.1\r\nHost: a\r\n${authorization()}${CHUNKED}`);
    await expect.poll(() => waiting.length).toBe(1);
    client.write('zz\r\n');
    const [response = '', ...more] = await responses;
    letGo();
    expect([statusOf(response), more]).toEqual([400, []]);
    expect(response).toMatch(/\r\nx-ratelimit-limit: 1000\r\n/i);
    // A later request gets a response, so that the handler has ended.
    await service.request('GET', '/v1/pets');
    expect(loggedStatuses()).toEqual([400, 200].map((status) => ['info', status]));
    expect(await internalErrors()).toBe(0);
  });
});

describe('a head that stops', () => {
  it('behind a request that takes longer gets 408, after its response', async () => {
    const hasty = await openForTest({
      environment: { HEADERS_TIMEOUT_MS: '1000' },
      modules: [WaitsModule],
    });
    const head = `GET /v1/waits HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${hasty.key}\r\n\r\n`;
    const received = sendRaw(hasty.url, `${head}GET /v1/pets HTTP/1.1\r\nHo`);
    await expect.poll(() => waiting.length).toBe(1);
    // A head that started later is refused, so the head that follows the request has exceeded its time limit as well.
    expect(await sendRaw(hasty.url, 'GET')).toMatch(/^HTTP\/1\.1 408 /);
    letGo();
    const responses = (await received).split(/(?=HTTP\/1\.1 )/);
    expect(statusesOf(responses)).toEqual([200, 408]);
  });
});

describe('what is refused beyond the limit of an address', () => {
  const closing = (path: string, field: string) =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\n${field}\r\nConnection: close${END}`;
  const times = async (count: number, send: () => Promise<unknown>) => {
    for (let sent = 0; sent < count; sent += 1) await send();
  };

  it.each([
    ['by the parser', 400, 1, () => `${post(false)}${CHUNKED}zz\r\n`],
    // Pages and their files have no quota; nor have probes, of which the log tells nothing.
    ['by a file', 412, 1, () => closing('/docs/openapi.json', 'If-Match: "x"')],
    ['by a probe', 406, 0, () => closing('/health/live', 'Accept: image/png')],
    ['by a long target', 414, 0, () => closing(`/health/live?${'a'.repeat(9_000)}`, 'Accept: */*')],
  ])('has one line a minute, and stays what it is: %s, %i', async (_, status, ofEach, bytes) => {
    let last = '';
    const send = async () => (last = await sendRaw(service.url, bytes()));
    await times(60, send);
    expect(lines).toHaveLength(60 * ofEach);
    await times(10, send);
    expect(lines).toHaveLength(61 * ofEach);
    expect(parseRaw(last)).toMatchObject({ status, body: { status } });
    expect(last).toMatch(/\r\nx-ratelimit-remaining: 0\r\n/i);
    service.clock.advance(60_000);
    await times(2, send);
    expect(lines).toHaveLength(63 * ofEach);
  });
});
