import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open as openFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { sendRaw } from '../support/raw-http.js';
import {
  BARE_ENVIRONMENT,
  folderOfTest,
  linesOf,
  serviceOfTest,
  SERVICE,
} from '../support/service-process.js';
import { onFile } from '../support/sqlite-file.js';

const MAIN = join(SERVICE, 'dist/bundle/main.js');
const COLOURS = new RegExp(`${String.fromCodePoint(27)}\\[\\d+m`, 'g');

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** Starts the service with its standard output on a terminal, in a pipe, or in a file that is opened to append. */
async function startOn(output: 'terminal' | 'pipe' | { readonly file: string }) {
  const [port, management] = [await freePort(), await freePort()];
  const file = typeof output === 'string' ? undefined : await openFile(output.file, 'a');
  const onTerminal = output === 'terminal';
  const child: ChildProcess = spawn(
    onTerminal ? 'script' : process.execPath,
    onTerminal ? ['-qefc', `exec '${process.execPath}' '${MAIN}'`, '/dev/null'] : [MAIN],
    {
      cwd: await folderOfTest(),
      env: {
        ...BARE_ENVIRONMENT,
        PORT: String(port),
        MANAGEMENT_PORT: String(management),
        TRUST_PROXY: '1',
      },
      stdio: ['ignore', file?.fd ?? 'pipe', 'pipe'],
    },
  );
  onTestFinished(() => void child.kill('SIGTERM'));
  await file?.close();
  let [shown, complaints] = ['', ''];
  if (onTerminal) child.stdout?.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => statusOf(`${url}/health/live`).catch(() => 0)).toBe(200);
  const metrics = async () => (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
  const ended = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    return (await exit)[0] as number | null;
  };
  return {
    url,
    child,
    metrics,
    ended,
    shown: () => shown.replace(COLOURS, ''),
    complaints: () => complaints,
  };
}

it('a terminal has one readable line for each request, and none for probes', async () => {
  const { url, shown } = await startOn('terminal');
  await statusOf(`${url}/v1/pets`);
  await statusOf(`${url}/docs?x=1`);
  await statusOf(`${url}/health/ready`);
  await statusOf(`${url}/wp-login.php`);
  await expect.poll(shown).toContain('route_not_found');
  const lines = shown().split(/\r?\n/);
  // The last lines of the start may come after the first request.
  expect(lines.filter((line) => line.includes(': GET '))).toEqual([
    expect.stringMatching(/^\[[\d:.]+\] INFO: GET \/v1\/pets 401 \d+ ms missing_api_key$/),
    expect.stringMatching(/^\[[\d:.]+\] INFO: GET \/docs 200 \d+ ms$/),
    expect.stringMatching(/^\[[\d:.]+\] INFO: GET unmatched 404 \d+ ms route_not_found$/),
  ]);
});

const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const TRACEPARENT = `00-${TRACE}-${SPAN}-01`;

/** Starts the service with JSON lines; `key` is that of its demo data. */
async function startWithLines() {
  const path = await folderOfTest();
  const service = await serviceOfTest(path, { LOG_LEVEL: 'debug' });
  const key = service.demoKey;
  const requests = () => service.lines.filter(({ route }) => route !== undefined);
  return { path, service, key, requests };
}

describe('JSON lines', () => {
  it('distinguish requests without the key, have the level of the status and the ids of a well-formed trace', async () => {
    const { path, service, key, requests } = await startWithLines();
    const request = (to: string, id: string, more: object = {}, authorization = `Bearer ${key}`) =>
      statusOf(service.url + to, { authorization, 'x-request-id': id, ...more });
    await request(`/v1/pets/5?x=${key}`, 'my-id.1', { traceparent: TRACEPARENT, tracestate: 'vendor=1' });
    await request(`/v1/${key}`, 'not well formed', {}, `Bearer ${key}x`);
    await request('/v1/pets', 'malformed', { traceparent: TRACEPARENT.toUpperCase() });
    await request('/v1/pets', 'twice', { traceparent: `${TRACEPARENT}, ${TRACEPARENT}` });
    // Every operation on animals fails from now on.
    await onFile(join(path, 'data/petstore.sqlite'), 'DROP TABLE pets');
    const get = (headers: string) =>
      `GET /v1/pets?${headers.length} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${headers}\r\n`;
    // Sent at the same time: the second waits for the first, and starts when that has ended.
    await sendRaw(
      service.url,
      get(`traceparent: ${TRACEPARENT}\r\nX-Request-Id: traced\r\n`) +
        get('X-Request-Id: bare\r\nConnection: close\r\n'),
    );
    await expect.poll(requests).toHaveLength(6);
    const [first, second, ...others] = requests();
    expect(first).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      requestId: 'my-id.1',
      clientId: expect.stringMatching(/^[\w-]{36}$/),
      method: 'GET',
      route: '/v1/pets/:petId',
      status: 200,
      durationMs: expect.any(Number),
      traceId: TRACE,
      spanId: SPAN,
      msg: expect.stringMatching(/^GET \/v1\/pets\/:petId 200 \d+ ms$/),
    });
    expect(second).toMatchObject({
      level: 30,
      code: 'invalid_api_key',
      msg: expect.stringMatching(/^GET unmatched 401 \d+ ms invalid_api_key$/),
      requestId: expect.stringMatching(/^[\w-]{36}$/),
    });
    expect(
      others.map(({ requestId, level, status, traceId }) => [requestId, level, status, traceId]),
    ).toEqual([
      ['malformed', 30, 200, undefined],
      ['twice', 30, 200, undefined],
      ['traced', 50, 500, TRACE],
      ['bare', 50, 500, undefined],
    ]);
    const ofErrors = service.lines.filter(({ context }) => context === 'Errors');
    expect(ofErrors.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([
      [TRACE, SPAN],
      [undefined, undefined],
    ]);
    const { stdout, stderr } = await service.stop();
    // Only the first start's own text shows the key.
    expect((stdout + stderr).split(key)).toHaveLength(2);
  });
});

it('a log that is opened to append may be copied and cut at any time: it goes on at its new end', async () => {
  const file = join(await folderOfTest(), 'petstore.log');
  const { url } = await startOn({ file });
  for (let sent = 0; sent < 20; sent += 1) await statusOf(`${url}/wp-login.php`);
  await expect.poll(async () => (await readFile(file, 'utf8')).split('GET unmatched').length).toBe(21);
  await writeFile(file, '');
  await statusOf(`${url}/docs`);
  await expect.poll(() => readFile(file, 'utf8')).toContain('GET /docs 200');
  const after = await readFile(file, 'utf8');
  expect(after).not.toContain('\0');
  expect(after).not.toContain('unmatched');
  expect(linesOf(after)).toContainEqual(expect.objectContaining({ route: '/docs', level: 30 }));
});

describe('a log that cannot be written', () => {
  it('because the disk is full affects no request, is reported once, and does not delay the exit', async () => {
    const { url, ended, complaints } = await startOn({ file: '/dev/full' });
    for (let sent = 0; sent < 100; sent += 1) expect(await statusOf(`${url}/favicon.ico`)).toBe(200);
    await expect.poll(complaints).toContain('ENOSPC');
    expect(await ended()).toBe(0);
    expect(complaints().match(/Log lines cannot be written: ENOSPC/g)).toHaveLength(1);
  });

  it.each(['stuck', 'gone'])(
    'because its reader is %s is bounded: lines are dropped and counted, requests go on, and a stop waits for nobody',
    async (how) => {
      const { url, metrics, child, ended } = await startOn('pipe');
      child.stdout?.pause();
      // An address has few lines in the log.
      const request = (address: number, more = '') =>
        `GET /favicon.ico HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${'x'.repeat(128)}\r\nX-Forwarded-For: 10.0.0.${address}\r\n${more}\r\n`;
      const many = Array.from({ length: 2_000 }, (_, at) => request(at % 200));
      const dropped = async () => {
        await sendRaw(url, many.join('') + request(0, 'Connection: close\r\n'));
        return Number(/^petstore_log_lines_dropped_total (\d+)/m.exec(await metrics())?.[1]);
      };
      await expect.poll(dropped, { interval: 1, timeout: 240_000 }).toBeGreaterThan(0);
      if (how === 'gone') child.stdout?.destroy();
      expect(await ended()).toBe(0);
    },
  );
});
