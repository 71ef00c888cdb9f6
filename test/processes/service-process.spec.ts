import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, Agent } from 'node:http';
import { createRequire } from 'node:module';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  emptyFolder,
  petstore,
  ROOT,
  serviceWith,
  ServiceProcess,
  BARE_ENVIRONMENT,
} from '../support/service-process.js';

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

async function start(path: string, environment: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(path, environment);
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

const lines = (output: string) =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const keyIn = (output: string) => /pst_test_\w{36}/.exec(output)?.[0] ?? '';

/** When a first start may be killed, by what it has done: its folder and what it has printed. */
const MOMENTS: Record<string, (path: string, output: string) => boolean> = {
  'when the file is made': (path) => existsSync(join(path, 'data/petstore.sqlite')),
  'when the log is made': (path) => existsSync(join(path, 'data/petstore.sqlite-wal')),
  'when the key is printed': (_, output) => keyIn(output) !== '',
};

/** Kills a first start as soon as the moment has come; answers what it has printed. */
async function firstStartKilled(
  path: string,
  hasCome: (path: string, output: string) => boolean,
): Promise<string> {
  const child = spawn(process.execPath, [join(ROOT, 'dist/bundle/main.js')], {
    cwd: path,
    env: { ...BARE_ENVIRONMENT, PORT: '0', MANAGEMENT_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  const kill = () => hasCome(path, output) && child.kill('SIGKILL');
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    kill();
  });
  const looks = setInterval(kill, 1);
  await once(child, 'close');
  clearInterval(looks);
  return output;
}

async function statusWith({ url }: ServiceProcess, key: string): Promise<number> {
  return (await fetch(`${url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;
}

async function clientsIn(path: string): Promise<unknown[]> {
  return JSON.parse((await petstore(path, ['client', 'list', '--json'])).stdout) as unknown[];
}

describe('an argument of the start', () => {
  const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };
  const USAGE = /^Usage: node dist\/bundle\/main\.js \[--help \| --version\]/m;

  it.each([
    ['--help', 0, USAGE, /^$/],
    ['--version', 0, new RegExp(`^${version}\\n$`), /^$/],
    ['--port=4000', 2, /^$/, /^"--port=4000" is not an argument of the start\.\n\nUsage: /],
    ['db migrate', 2, /^$/, /^"db" is not an argument/],
    ['--help --now', 2, /^$/, /^"--now" is not an argument/],
  ])('%s ends with code %i and makes nothing', async (args, expected, told, complained) => {
    const path = await folder();
    const { code, stdout, stderr } = await serviceWith(path, args.split(' '));
    expect([code, stdout, stderr]).toEqual([
      expected,
      expect.stringMatching(told),
      expect.stringMatching(complained),
    ]);
    expect(await readdir(path)).toEqual([]);
  });
});

describe('the first start on an empty store', () => {
  it('makes the file, the demo catalogue and a key, and prints a curl line that works as pasted', async () => {
    const path = await folder();
    const service = await start(path);
    expect(existsSync(join(path, 'data/petstore.sqlite'))).toBe(true);
    expect(service.output).toContain(`${service.url}/docs`);
    const curl = /^ {2}(curl .*)$/m.exec(service.output)?.[1] ?? '';
    const { stdout } = await promisify(execFile)('bash', ['-c', `${curl} -sS`]);
    expect(JSON.parse(stdout)).toEqual([
      { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' },
      { id: 2, name: 'Luna', categoryId: 1, status: 'available' },
      { id: 4, name: 'Maple', categoryId: 1, status: 'available' },
    ]);
    const { stdout: status } = await petstore(path, ['client', 'list', '--json']);
    expect(JSON.parse(status)).toEqual([expect.objectContaining({ name: 'Demo', plan: 'free' })]);
  });

  it('does nothing of that again at the second start', async () => {
    const path = await folder();
    const first = await start(path);
    await first.stop();
    const second = await start(path);
    expect(keyIn(second.output)).toBe('');
    const headers = { authorization: `Bearer ${keyIn(first.output)}` };
    expect((await fetch(`${second.url}/v1/pets`, { headers })).status).toBe(200);
  });

  it.each(['PORT', 'MANAGEMENT_PORT'])('keeps it for the next start when %s is in use', async (variable) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const path = await folder();
    const refused = ServiceProcess.start(path, { [variable]: String(port) });
    await expect(refused).rejects.toThrow(`${variable}: port ${port} is in use`);
    taken.close();
    const service = await start(path);
    expect(await statusWith(service, keyIn(service.output))).toBe(200);
    expect(await clientsIn(path)).toHaveLength(1);
  });

  it.each(Object.entries(MOMENTS))('shows a key that works when it is killed %s', async (_, hasCome) => {
    const path = await folder();
    const killed = await firstStartKilled(path, hasCome);
    const service = await start(path);
    // Shown twice at most, where it was killed between the text and the commit: then the first was never there.
    expect(await statusWith(service, keyIn(service.output) || keyIn(killed))).toBe(200);
    expect(await clientsIn(path)).toHaveLength(1);
  });

  it('makes one of two that begin at once on one new file', async () => {
    const path = await folder();
    const services = await Promise.all([start(path), start(path)]);
    expect(services.filter(({ output }) => keyIn(output) !== '')).toHaveLength(1);
    expect(await clientsIn(path)).toHaveLength(1);
  });

  it('does nothing of that in production, where keys are live ones', async () => {
    const path = await folder();
    const service = await start(path, { NODE_ENV: 'production' });
    expect(service.output).not.toContain('curl');
    const { stdout: client } = await petstore(
      path,
      ['client', 'create', '--name', 'A', '--plan', 'pro', '--json'],
      { NODE_ENV: 'production' },
    );
    const { id } = JSON.parse(client) as { id: string };
    const { stdout: key } = await petstore(path, ['key', 'issue', '--client', id, '--json'], {
      NODE_ENV: 'production',
    });
    expect((JSON.parse(key) as { key: string }).key).toMatch(/^pst_live_/);
    const headers = { authorization: `Bearer ${(JSON.parse(key) as { key: string }).key}` };
    expect(await (await fetch(`${service.url}/v1/pets`, { headers })).json()).toEqual([]);
  });

  it('leaves a store alone that has a client already', async () => {
    const path = await folder();
    await petstore(path, ['client', 'create', '--name', 'Mine', '--plan', 'free']);
    const service = await start(path);
    expect(service.output).not.toContain('curl');
  });
});

describe('the start', () => {
  it('names every wrong setting on a line of its own, and shows no secret', async () => {
    const environment = {
      PORT: '99999',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://user:hunter2@db/x',
      TRUST_PROXY: 'true',
    };
    const failure = await ServiceProcess.start(await folder(), environment).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(failure).toContain('ended with 1');
    for (const variable of [
      'PORT: "99999"',
      'LOG_LEVEL: "loud"',
      'DATABASE_URL: the value given',
      'TRUST_PROXY: "true"',
    ]) {
      expect(failure).toMatch(new RegExp(`^${variable} is not allowed; it must be .+\\.$`, 'm'));
    }
    expect(failure).not.toContain('hunter2');
  });

  it('says once what replaces a setting that is gone, and is one process all the same', async () => {
    const { output } = await start(await folder(), { WEB_CONCURRENCY: '4' });
    expect(output.match(/WEB_CONCURRENCY/g)).toHaveLength(1);
    expect(output).toMatch(/"level":40,.*"msg":"WEB_CONCURRENCY is not read any more: run one instance/);
    expect(output.match(/Listening on/g)).toHaveLength(1);
  });

  it('reads .env, under the environment', async () => {
    const path = await folder();
    await writeFile(join(path, '.env'), 'DATABASE_URL=sqlite:other/place.sqlite\nLOG_LEVEL=error\n');
    const failure = start(path, { LOG_LEVEL: 'info' });
    await failure;
    expect(existsSync(join(path, 'other/place.sqlite'))).toBe(true);
  });

  it('says which port is in use and what to set', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(ServiceProcess.start(await folder(), { PORT: String(port) })).rejects.toThrow(
      `PORT: port ${port} is in use; set PORT to a free one.`,
    );
    await expect(ServiceProcess.start(await folder(), { MANAGEMENT_PORT: String(port) })).rejects.toThrow(
      `MANAGEMENT_PORT: port ${port} is in use`,
    );
  });

  it('refuses a schema newer than itself', async () => {
    const path = await folder();
    await petstore(path, ['db', 'migrate']);
    const sqlite3 = await import('sqlite3');
    await new Promise<void>((resolve, reject) => {
      const database = new sqlite3.default.Database(join(path, 'data/petstore.sqlite'));
      database.run(
        `INSERT INTO schema_migrations (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`,
        (error) => {
          database.close();
          if (error) reject(error);
          else resolve();
        },
      );
    });
    await expect(ServiceProcess.start(path)).rejects.toThrow(
      /migrated by a newer version of the service \(Later9999999999999\)/,
    );
  });

  it('says why when the database cannot be opened', async () => {
    await expect(
      ServiceProcess.start(await folder(), { DATABASE_URL: 'sqlite:/dev/null/x.sqlite' }),
    ).rejects.toThrow(
      /The service could not start: \/dev\/null\/x.sqlite cannot be used: \/dev\/null is not a folder/,
    );
  });

  it('of two processes at once on one new file lets both serve', async () => {
    const path = await folder();
    const services = await Promise.all([
      start(path, { NODE_ENV: 'production' }),
      start(path, { NODE_ENV: 'production' }),
    ]);
    for (const { url } of services) expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });
});

/** Connects anew: a connection that is kept may still bring a request when the stop begins. */
async function onNewConnection(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.destroy();
}

describe('the stop', () => {
  it('answers the request in flight, refuses new ones and exits 0', async () => {
    const service = await start(await folder());
    const key = keyIn(service.output);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const body = '{"name":"Last","categoryId":1}';
    const slow = httpRequest(`${service.url}/v1/pets`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    const answered = new Promise<number | undefined>((resolve) =>
      slow.on('response', (response) => resolve(response.resume().statusCode)),
    );
    slow.write(body.slice(0, 5));
    // The request is in flight once the service has answered another one sent after it.
    await (await fetch(`${service.url}/health/live`)).arrayBuffer();
    const stopped = service.stop('SIGTERM');
    await expect.poll(() => service.output).toContain('finishing the requests in flight');
    await expect(onNewConnection(service.url)).rejects.toThrow('ECONNREFUSED');
    slow.end(body.slice(5));
    expect(await answered).toBe(201);
    expect((await stopped).code).toBe(0);
  });

  it.each(['stuck', 'gone'] as const)('does not wait for a reader of its log who is %s', async (how) => {
    const service = await start(await folder(), { NODE_ENV: 'production' });
    service.leaveOutput('stuck');
    const ask = async () => {
      for (let sent = 0; sent < 200; sent += 1) await (await fetch(`${service.url}/v1/pets`)).text();
    };
    await Promise.all(Array.from({ length: 16 }, ask));
    if (how === 'gone') service.leaveOutput(how);
    service.signal('SIGTERM');
    await expect.poll(() => service.exitCode).toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('does not wait for an idle connection, on %s', async (signal) => {
    const service = await start(await folder(), { SHUTDOWN_TIMEOUT_MS: '600000' });
    await (await fetch(`${service.url}/health/live`)).arrayBuffer();
    const { code, stdout } = await service.stop(signal);
    expect(code).toBe(0);
    const at = (text: string) =>
      Date.parse(String(lines(stdout).find(({ msg }) => String(msg).includes(text))?.time));
    // The client would keep it for 72 seconds.
    expect(at('Stopped') - at('finishing the requests in flight')).toBeLessThan(60_000);
  });

  it('cuts what takes too long', async () => {
    const service = await start(await folder(), { SHUTDOWN_TIMEOUT_MS: '100' });
    const never = httpRequest(`${service.url}/v1/pets`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keyIn(service.output)}`,
        'content-type': 'application/json',
        'content-length': 100,
      },
    });
    const cut = new Promise((resolve) => never.on('error', resolve));
    never.write('{');
    await (await fetch(`${service.url}/health/live`)).arrayBuffer();
    expect((await service.stop()).code).toBe(0);
    expect(await cut).toBeInstanceOf(Error);
  });

  it('kill -9 loses no acknowledged animal', async () => {
    const path = await folder();
    const service = await start(path);
    const headers = { authorization: `Bearer ${keyIn(service.output)}`, 'content-type': 'application/json' };
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        fetch(`${service.url}/v1/pets`, {
          method: 'POST',
          headers,
          body: `{"name":"Kept ${index}","categoryId":1}`,
        }),
      ),
    );
    const ids = await Promise.all(
      created.map(async (response) => ((await response.json()) as { id: number }).id),
    );
    await service.stop('SIGKILL');
    const again = await start(path);
    for (const id of ids) expect((await fetch(`${again.url}/v1/pets/${id}`, { headers })).status).toBe(200);
  });
});

describe('a running process', () => {
  it('logs one JSON line a request, with what tells requests apart and without the key', async () => {
    const service = await start(await folder());
    const key = keyIn(service.output);
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'my-id.1' };
    await (await fetch(`${service.url}/v1/pets/5?x=${key}`, { headers })).arrayBuffer();
    await (
      await fetch(`${service.url}/v1/${key}`, {
        headers: { authorization: `Bearer ${key}x`, 'x-request-id': 'not well formed' },
      })
    ).arrayBuffer();
    const { stdout, stderr } = await service.stop();
    const requests = lines(stdout).filter(({ route }) => route !== undefined);
    expect(requests[0]).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      requestId: 'my-id.1',
      clientId: expect.stringMatching(/^[\w-]{36}$/),
      method: 'GET',
      route: '/v1/pets/:petId',
      status: 200,
      durationMs: expect.any(Number),
      msg: expect.stringMatching(/^GET \/v1\/pets\/:petId 200 \d+ ms$/),
    });
    expect(requests[1]).toMatchObject({
      level: 30,
      code: 'invalid_api_key',
      msg: expect.stringMatching(/^GET unmatched 401 \d+ ms invalid_api_key$/),
      requestId: expect.stringMatching(/^[\w-]{36}$/),
      route: 'unmatched',
      status: 401,
    });
    // Only the first start's own text shows the key.
    expect((stdout + stderr).split(key)).toHaveLength(2);
  });

  it('serves metrics on the management port alone', async () => {
    const service = await start(await folder());
    const key = keyIn(service.output);
    const headers = { authorization: `Bearer ${key}` };
    for (const path of ['/v1/pets', '/v1/pets/1', '/v1/pets/2', '/v1/nothing'])
      await (await fetch(service.url + path, { headers })).arrayBuffer();
    await (await fetch(`${service.url}/v1/pets`)).arrayBuffer();
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
    const [, port] = /Metrics on port (\d+)/.exec(service.output) ?? [];
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const line of [
      'http_requests_total{method="GET",route="/v1/pets",status="200"} 1',
      'http_requests_total{method="GET",route="/v1/pets/:petId",status="200"} 2',
      'http_requests_total{method="GET",route="unmatched",status="404"} 2',
      'http_requests_total{method="GET",route="/v1/pets",status="401"} 1',
      'http_request_duration_seconds_count{method="GET",route="/v1/pets",status="200"} 1',
      'petstore_quota_verdicts_total{plan="free",verdict="admitted"} 4',
      'petstore_quota_verdicts_total{plan="anonymous",verdict="admitted"} 2',
    ]) {
      expect(metrics).toContain(line);
    }
    expect(metrics).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
    expect(metrics).not.toContain(key);
    expect((await fetch(`http://127.0.0.1:${port}/other`)).status).toBe(404);
  });
});

it('keeps its heap small: V8 has other options where the service is loaded', async () => {
  const path = await folder();
  const told = join(path, 'tell.cjs');
  // V8 tells apart by this number under which options code was compiled.
  await writeFile(
    told,
    `process.on('exit', () => process.stderr.write(String(require('node:v8').cachedDataVersionTag())));`,
  );
  const tagOf = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, ['--require', told, ...args], { env: BARE_ENVIRONMENT }))
      .stderr;
  const main = join(ROOT, 'dist/bundle/main.js');
  const [sites, growth] = ['--no-allocation-site-pretenuring', '--heap-growing-percent=100'];
  expect(await tagOf(main, '--help')).toBe(await tagOf(sites, growth, '--eval', '0'));
  expect(await tagOf(sites, growth, '--eval', '0')).not.toBe(await tagOf('--eval', '0'));
  // An option that the process was started with stays as it is.
  const given = '--heap_growing_percent=50';
  expect(await tagOf(given, main, '--help')).toBe(await tagOf(sites, given, '--eval', '0'));
  expect(await tagOf(given, main, '--help')).not.toBe(await tagOf(main, '--help'));
});
