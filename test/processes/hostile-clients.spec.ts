import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../src/auth/clients/api-key.format.js';
import { sendRaw } from '../support/raw-http.js';
import { ServiceProcess, emptyFolder, petstore } from '../support/service-process.js';

const END = '\r\n\r\n';

let folder: { path: string; remove: () => Promise<void> };
let service: ServiceProcess;
/** A service with short time limits, for clients that keep it waiting: every other one may be as slow as this machine. */
let hasty: ServiceProcess;
let key: string;
beforeAll(async () => {
  folder = await emptyFolder();
  // A busy machine makes the event loop late enough for the service to refuse what others ask: overload has its own suite.
  const environment = { NODE_ENV: 'production', MAX_EVENT_LOOP_LAG_MS: '0', MAX_REQUESTS_IN_FLIGHT: '0' };
  service = await ServiceProcess.start(folder.path, environment);
  hasty = await ServiceProcess.start(folder.path, {
    ...environment,
    HEADERS_TIMEOUT_MS: '2000',
    REQUEST_TIMEOUT_MS: '3000',
    RESPONSE_TIMEOUT_MS: '2000',
  });
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await petstore(folder.path, [...args, '--json'], environment);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as { id: string; key: string };
  };
  const limits = ['--per-minute', '1000000', '--per-day', '100000000'];
  const { id } = await run('client', 'create', '--name', 'Innocent', '--plan', 'enterprise', ...limits);
  ({ key } = await run('key', 'issue', '--client', id));
});
afterAll(async () => {
  await Promise.all([service.stop(), hasty.stop()]);
  await folder.remove();
});

const withKey = () => `Authorization: Bearer ${key}\r\n`;
const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
const residentMiB = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;

async function open(to = service): Promise<Socket> {
  const { hostname, port } = new URL(to.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Everything that a socket receives until it is closed. */
async function receivedBy(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  return text;
}

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

const statusesIn = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

async function innocent(): Promise<number> {
  const { status } = await fetch(`${service.url}/v1/pets?limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return status;
}

/** Waits until the service has let go of what it held for connections that are closed. */
async function settled(before: number): Promise<void> {
  await expect.poll(descriptors, { interval: 50 }).toBeLessThanOrEqual(before + 5);
}

describe('a client that never reads', () => {
  it.each([
    ['the script of the docs', 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a'],
    ['the document', 'GET /docs/openapi.yaml HTTP/1.1\r\nHost: a'],
    ['readiness', 'GET /health/ready HTTP/1.1\r\nHost: a'],
  ])('and asks 1,200 times for %s on each of 20 connections leaves nothing behind', async (_, request) => {
    expect(await innocent()).toBe(200);
    const before = descriptors();
    const memory = residentMiB();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open()));
    for (const socket of sockets) socket.pause().write(`${request}${END}`.repeat(1_200));
    for (let asked = 0; asked < 20; asked += 1) expect(await innocent()).toBe(200);
    for (const socket of sockets) socket.destroy();
    await settled(before);
    expect(residentMiB() - memory).toBeLessThan(150);
  });

  it('loses its connection once its answer has waited too long', async () => {
    const socket = await open(hasty);
    socket.pause().write(`GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`.repeat(60));
    await expect.poll(() => socket.write(' ') && !socket.destroyed, { interval: 250 }).toBe(false);
  });
});

describe('a client that sends thousands of requests at once', () => {
  it('is read no further once 64 of them wait, and leaves nothing behind that others would wait for', async () => {
    const before = descriptors();
    const memory = residentMiB();
    const socket = (await open()).pause();
    const sent = `GET /x HTTP/1.1\r\nHost: a${END}`.repeat(1_500_000);
    socket.write(sent);
    for (let asked = 0; asked < 50; asked += 1) expect(await innocent()).toBe(200);
    // Far more than the kernel takes of it.
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(residentMiB() - memory).toBeLessThan(150);
    socket.destroy();
    for (let asked = 0; asked < 10; asked += 1) expect(await innocent()).toBe(200);
    await settled(before);
  });

  it('is answered in order, one request after the other', async () => {
    const socket = await open();
    const received = receivedBy(socket);
    const one = (limit: number) => `GET /v1/pets?limit=${limit} HTTP/1.1\r\nHost: a\r\n${withKey()}\r\n`;
    const asked = Array.from({ length: 999 }, (_, index) => one((index * 7) % 120));
    socket.write(
      asked.join('') + `GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${withKey()}\r\n`,
    );
    const statuses = statusesIn(await received);
    const expected = asked.map((_, index) =>
      (index * 7) % 120 >= 1 && (index * 7) % 120 <= 100 ? 200 : 400,
    );
    expect(statuses).toEqual([...expected, 200]);
  });

  it('does not delay others: they are served between its requests', async () => {
    const socket = await open();
    let answers = 0;
    socket.on('data', (chunk: Buffer) => (answers += statusesIn(chunk.toString('latin1')).length));
    socket.write(`GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\n${withKey()}\r\n`.repeat(10_000));
    await once(socket, 'data');
    for (let asked = 0; asked < 10; asked += 1) expect(await innocent()).toBe(200);
    const answeredMeanwhile = answers;
    socket.destroy();
    expect(answeredMeanwhile).toBeLessThan(10_000);
  });

  it('does not keep others from connecting, however many do the same', async () => {
    const asked = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\n${withKey()}\r\n`.repeat(60);
    const { hostname, port } = new URL(service.url);
    let answered = 0;
    // Each sends before the service has accepted it.
    const sockets = Array.from({ length: 600 }, () => connect(Number(port), hostname));
    for (const socket of sockets) {
      socket.write(asked);
      socket
        .setEncoding('latin1')
        .on('data', (chunk: string) => (answered += chunk.split('HTTP/1.1 ').length - 1));
    }
    await expect.poll(() => answered, { interval: 1 }).toBeGreaterThan(0);
    const { status } = await fetch(`${service.url}/health/live`, { headers: { connection: 'close' } });
    const before = answered;
    expect(status).toBe(200);
    await expect.poll(() => answered).toBe(600 * 60);
    expect(before).toBeLessThan((600 * 60) / 2);
    for (const socket of sockets) socket.destroy();
  });

  it('with keys that nobody issued gets 401 and then 429, and nobody else notices', async () => {
    const sockets = await Promise.all(Array.from({ length: 10 }, () => open()));
    const received = sockets.map((socket) => receivedBy(socket));
    for (const socket of sockets) {
      const requests = Array.from(
        { length: 500 },
        () => `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${generateApiKey('live')}${END}`,
      );
      socket.write(`${requests.join('')}GET /v1/x HTTP/1.1\r\nHost: a\r\nConnection: close${END}`);
    }
    for (let asked = 0; asked < 50; asked += 1) expect(await innocent()).toBe(200);
    const statuses = (await Promise.all(received)).flatMap(statusesIn);
    expect(statuses).toHaveLength(5_010);
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
  });
});

describe('a body that is too large', () => {
  const head = () => `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${withKey()}`;

  it.each([
    ['announced with 2^53 bytes', 'Content-Length: 9007199254740992\r\n'],
    ['announced with one byte too many', 'Content-Length: 102401\r\n'],
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

  it('of a caller without a key is not asked for', async () => {
    const text = await sendRaw(
      service.url,
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\nExpect: 100-continue${END}`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 (401|429) [^]*connection: close/i);
  });

  it('is asked for with HTTP/1.1 alone', async () => {
    const body = '{"name":"Old","categoryId":1}';
    const text = await sendRaw(
      service.url,
      `${head().replace('HTTP/1.1', 'HTTP/1.0')}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(statusesIn(text)).toEqual([201]);
  });

  it('is asked for once nothing else stands against it', async () => {
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
        `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    ],
  ])('gets 408 with the Error body: %s', async (_, bytes) => {
    const text = await sendRaw(hasty.url, bytes());
    expect(statusesIn(text).at(-1)).toBe(408);
    expect(text).toMatch(/"code":"request_timeout"/);
    expect(text).toMatch(/x-ratelimit-limit: \d+/i);
  });

  it('gets 408 in the middle of a second head too', async () => {
    const socket = await open(hasty);
    const received = receivedBy(socket);
    socket.write(`GET /health/live HTTP/1.1\r\nHost: a${END}`);
    await once(socket, 'data');
    socket.write('GET /health/live HTTP/1.1\r\nHo');
    expect(statusesIn(await received)).toEqual([200, 408]);
  });
});

describe('a connection that is kept', () => {
  it('may bring an empty line between two requests', async () => {
    const socket = await open(hasty);
    const received = receivedBy(socket);
    socket.write(`GET /health/live HTTP/1.1\r\nHost: a${END}`);
    await once(socket, 'data');
    socket.write('\r\n');
    for (let asked = 0; asked < 3; asked += 1) {
      // Until the limit of a head has passed, as another connection notices it.
      expect(await sendRaw(hasty.url, 'GET')).toMatch(/^HTTP\/1\.1 408 /);
    }
    socket.write(`GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close${END}`);
    expect(statusesIn(await received)).toEqual([200, 200]);
  });

  it('whose body stops shows the quota of its own key', async () => {
    const text = await sendRaw(
      hasty.url,
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${withKey()}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 408 [^]*x-ratelimit-limit: 1000000\r\n/i);
  });
});

describe('the limits of a head', () => {
  it.each([
    ['101 fields', 'a: b\r\n'.repeat(100)],
    ['10,000 fields', 'a:\r\n'.repeat(10_000)],
    ['20 KiB in one field', `a: ${'x'.repeat(20_480)}\r\n`],
  ])('%s are too many', async (_, fields) => {
    const text = await sendRaw(service.url, `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${fields}${withKey()}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 [^]*"code":"headers_too_large"/);
  });

  it('100 fields are not', async () => {
    const fields = `Connection: close\r\n${'a: b\r\n'.repeat(97)}`;
    const text = await sendRaw(service.url, `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${fields}${withKey()}\r\n`);
    expect(statusesIn(text)).toEqual([200]);
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

describe('what is not valid HTTP', () => {
  const ask = (line: string, fields = '') => `${line}\r\n${fields}${withKey()}Connection: close\r\n\r\n`;

  it.each([
    ['an authority that is none', ask('GET http://[/v1/pets HTTP/1.1', 'Host: a\r\n')],
    ['an asterisk with GET', ask('GET * HTTP/1.1', 'Host: a\r\n')],
    ['another scheme', ask('GET ftp://a/v1/pets HTTP/1.1', 'Host: a\r\n')],
    ['HTTP/2', ask('GET /v1/pets HTTP/2.0', 'Host: a\r\n')],
    ['HTTP/0.9', ask('GET /v1/pets HTTP/0.9', 'Host: a\r\n')],
    ['no Host', ask('GET /v1/pets HTTP/1.1')],
    ['two Hosts', ask('GET /v1/pets HTTP/1.1', 'Host: a\r\nHost: b\r\n')],
    ['a Host with a path', ask('GET /v1/pets HTTP/1.1', 'Host: a/b\r\n')],
    ['a Host with a user', ask('GET /v1/pets HTTP/1.1', 'Host: u@a\r\n')],
    ['two types', ask('POST /v1/pets HTTP/1.1', 'Host: a\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n')],
    ['two keys', ask('GET /v1/pets HTTP/1.1', 'Host: a\r\nAuthorization: Bearer x\r\n')],
    ['a coded transfer', ask('POST /v1/pets HTTP/1.1', 'Host: a\r\nTransfer-Encoding: gzip, chunked\r\n')],
  ])('is 400 malformed_request: %s', async (_, bytes) => {
    const text = await sendRaw(service.url, bytes);
    expect(text).toMatch(/^HTTP\/1\.1 400 [^]*"code":"malformed_request"/);
    expect(text).toMatch(/x-ratelimit-remaining: \d+/i);
  });

  it('a tunnel is 405 with an Allow that names no method', async () => {
    const text = await sendRaw(service.url, `CONNECT a:443 HTTP/1.1\r\nHost: a${END}`);
    expect(text).toMatch(/^HTTP\/1\.1 405 [^]*\r\nallow: \r\n/i);
  });

  it('the absolute form is taken as a path, and no foreign host comes back', async () => {
    await sendRaw(
      service.url,
      `POST http://evil.example/v1/pets HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 29\r\n${withKey()}Connection: close\r\n\r\n{"name":"One","categoryId":1}`,
    ).then((text) => expect(text).toMatch(/^HTTP\/1\.1 201 [^]*location: \/v1\/pets\//i));
    const text = await sendRaw(
      service.url,
      ask('GET http://evil.example/v1/pets?limit=1 HTTP/1.1', 'Host: a\r\n'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*link: <\/v1\/pets\?/i);
    expect(text).not.toContain('evil');
  });

  it('behind a valid request is refused in its turn', async () => {
    const text = await sendRaw(
      service.url,
      `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\n${withKey()}\r\nno request at all${END}`,
    );
    expect(statusesIn(text)).toEqual([200, 400]);
  });
});

describe('the docs', () => {
  it.each([
    ['/docs/', 200],
    ['/docs//', 404],
    ['/docs/package.json', 404],
    ['/docs/swagger-ui-bundle.js.map', 404],
    ['/docs/..%2fpackage.json', 404],
    ['/docs/absolute-path.js', 404],
  ])('%s is %d', async (path, expected) => {
    const text = await sendRaw(
      service.url,
      `GET ${path} HTTP/1.1\r\nHost: a\r\n${withKey()}Connection: close\r\n\r\n`,
    );
    expect(statusesIn(text)).toEqual([expected]);
  });
});

describe('clients that come at once while the service does something else', () => {
  it('are all let in: as many as the kernel keeps for a server, not the 511 that Node asks for', async () => {
    const kept = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
    const clients = Math.min(1_500, kept);
    let connected: Socket[] = [];
    process.kill(service.pid, 'SIGSTOP');
    try {
      // The kernel connects them; where it keeps no more, it lets the rest wait for seconds and drops what they send.
      connected = await Promise.all(Array.from({ length: clients }, () => open()));
    } finally {
      process.kill(service.pid, 'SIGCONT');
    }
    const answers = connected.map(receivedBy);
    for (const socket of connected)
      socket.write(`GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close${END}`);
    const statuses = (await Promise.all(answers)).flatMap(statusesIn);
    expect(statuses).toEqual(Array.from({ length: clients }, () => 200));
  });
});

describe('what was carried out', () => {
  it('is logged and counted, though its client did not wait for the answer', async () => {
    const socket = await open();
    const id = 'gone-before-the-answer';
    const body = '{"name":"Left","categoryId":1}';
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n${withKey()}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
    await expect.poll(() => service.output).toContain(`"requestId":"${id}"`);
  });

  it('keeps its connection for longer than a load balancer does', async () => {
    const { headers } = await fetch(`${service.url}/health/live`);
    expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThanOrEqual(65);
  });
});
