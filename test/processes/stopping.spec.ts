import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listening, statusesIn } from '../support/raw-http.js';
import { folderOfTest, serviceOfTest, type ServiceProcess } from '../support/service-process.js';
import { SqliteFile } from '../support/sqlite-file.js';

async function start(environment: NodeJS.ProcessEnv = {}) {
  const path = await folderOfTest();
  const service = await serviceOfTest(path, environment);
  return { service, key: service.demoKey, path };
}

/** Sends a GET on a connection of the agent; returns its status and `Connection`, or the code of its error. */
function get(
  url: string,
  agent: Agent,
): Promise<{ status: number; connection: string } | { failed: string }> {
  return new Promise((resolve) => {
    const sent = httpRequest(`${url}/health/live`, { agent }, (response) => {
      response
        .resume()
        .once('end', () =>
          resolve({ status: response.statusCode ?? 0, connection: String(response.headers.connection) }),
        );
    });
    sent.once('error', ({ code }: NodeJS.ErrnoException) => resolve({ failed: String(code) }));
    sent.end();
  });
}

/** What the log says when a stop starts. */
const STOPPING = 'finishing the requests in flight';

/** When a line of the log with a text was written. */
function timeOf(output: string, text: string): number {
  const line = output.split('\n').find((one) => one.includes(text)) ?? '';
  return Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '');
}

/** A request that adds an animal, whose body of the given number of bytes is yet to be sent. */
function posting({ url }: ServiceProcess, key: string, length: number): ClientRequest {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': length,
  };
  return httpRequest(`${url}/v1/pets`, { method: 'POST', headers });
}

describe('a stop', () => {
  it('announces to every served client that its connection ends, and resets none', async () => {
    const { service } = await start();
    const agents = Array.from({ length: 32 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const clients = agents.map(async (agent) => {
      for (;;) {
        const result = await get(service.url, agent);
        if ('failed' in result || result.connection === 'close') return result;
      }
    });
    for (const agent of agents) await get(service.url, agent);
    const stopped = service.stop('SIGTERM');
    const last = await Promise.all(clients);
    expect(last).toEqual(last.map(() => ({ status: 200, connection: 'close' })));
    expect((await stopped).code).toBe(0);
    for (const agent of agents) agent.destroy();
  });

  it('says first that it is not ready, and serves new connections until SHUTDOWN_DELAY_MS is over', async () => {
    const { service, key } = await start({ SHUTDOWN_DELAY_MS: '1500' });
    const status = async (path: string) =>
      (await fetch(service.url + path, { headers: { authorization: `Bearer ${key}`, connection: 'close' } }))
        .status;
    expect(await status('/health/ready')).toBe(200);
    const stopped = service.stop('SIGTERM');
    await expect.poll(() => status('/health/ready')).toBe(503);
    expect([await status('/v1/pets'), await status('/health/live')]).toEqual([200, 200]);
    expect((await stopped).code).toBe(0);
    await expect(status('/health/live')).rejects.toThrow('fetch failed');
  });

  it('completes the request in flight, and refuses new ones', async () => {
    const { service, key } = await start();
    const body = '{"name":"Last","categoryId":1}';
    const slow = posting(service, key, body.length);
    const arrived = new Promise<number | undefined>((resolve) =>
      slow.on('response', (response) => resolve(response.resume().statusCode)),
    );
    slow.write(body.slice(0, 5));
    // The request is in flight once the service has answered another one sent after it.
    await service.request('GET', '/health/live');
    const stopped = service.stop('SIGTERM');
    await expect.poll(() => service.output).toContain(STOPPING);
    // On new connections: one that is kept, or not accepted yet, may still bring a request when the stop starts.
    const anew = () => get(service.url, new Agent());
    await expect.poll(anew).toEqual({ failed: 'ECONNREFUSED' });
    slow.end(body.slice(5));
    expect(await arrived).toBe(201);
    expect((await stopped).code).toBe(0);
  });

  it('ends in time, though another process keeps the database locked', async () => {
    const { service, path } = await start({ SHUTDOWN_TIMEOUT_MS: '1000' });
    const other = await SqliteFile.open(join(path, 'data/petstore.sqlite'));
    onTestFinished(() => other.close());
    await other.run('BEGIN IMMEDIATE');
    await service.request('GET', '/v1/pets');
    // Another flush is due every second and waits five seconds for the lock. The log reports only the lock.
    await expect.poll(() => service.output).toContain('is locked by another process');
    expect(service.output).not.toContain('Counters cannot be written');
    const { code, stdout } = await service.stop('SIGTERM');
    expect(code).toBe(0);
    expect(timeOf(stdout, 'Stopped') - timeOf(stdout, STOPPING)).toBeLessThan(60_000);
  });
});

describe('a process that is paused serves what has arrived in time when it continues', () => {
  const HEALTH = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n';
  const PET = '{"name":"Late","categoryId":1}';
  const post = (key: string) =>
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`;

  /** A connection that has sent this, and on which the given number of responses have arrived. */
  async function connected({ url }: ServiceProcess, sent: string, responses: number) {
    const connection = listening(url);
    connection.socket.write(sent);
    await expect.poll(() => statusesIn(connection.received()).length).toBe(responses);
    return { ...connection, statuses: () => statusesIn(connection.received()) };
  }

  /** Pauses the process for so long by its clock, while something is sent. */
  async function paused({ pid }: ServiceProcess, ms: number, send: () => void): Promise<void> {
    process.kill(pid, 'SIGSTOP');
    try {
      send();
      await setTimeout(ms);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  it('on reused connections, although a stop closes idle ones', async () => {
    const { service, key } = await start();
    const idle = await Promise.all(Array.from({ length: 8 }, () => connected(service, HEALTH, 1)));
    const stopped = service.stop('SIGTERM');
    await expect.poll(() => service.output).toContain(STOPPING);
    await paused(service, 500, () => {
      for (const { socket } of idle) socket.write(post(key));
    });
    await Promise.all(idle.map(({ closed }) => closed));
    expect(idle.map(({ statuses }) => statuses())).toEqual(idle.map(() => [200, 201]));
    expect((await stopped).code).toBe(0);
  });

  it('though a connection was idle, or its head or body under way, for too long', async () => {
    const { service, key } = await start({
      KEEP_ALIVE_TIMEOUT_MS: '1000',
      HEADERS_TIMEOUT_MS: '2000',
      REQUEST_TIMEOUT_MS: '2000',
    });
    const half = post(key).length - 5;
    const [fresh, head, body, late, idle] = await Promise.all([
      connected(service, '', 0),
      connected(service, post(key).slice(0, 20), 0),
      connected(service, post(key).slice(0, half), 0),
      connected(service, post(key).slice(0, 20), 0),
      connected(service, HEALTH, 1),
    ]);
    await paused(service, 5_000, () => {
      idle.socket.write(HEALTH);
      fresh.socket.write(HEALTH);
      head.socket.write(post(key).slice(20));
      body.socket.write(post(key).slice(half));
      late.socket.write(post(key).slice(20, 40));
    });
    await expect
      .poll(() => [fresh, head, body, late, idle].map(({ statuses }) => statuses()))
      .toEqual([[200], [201], [201], [408], [200, 200]]);
  });
});
