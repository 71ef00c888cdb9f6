import { Agent, type ClientRequest, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderOfTest, serviceOfTest, type ServiceProcess } from '../support/service-process.js';
import { SqliteFile } from '../support/sqlite-file.js';

async function start(environment: NodeJS.ProcessEnv = {}) {
  const path = await folderOfTest();
  const service = await serviceOfTest(path, environment);
  return { service, key: service.demoKey, path };
}

/** Sends a GET on a connection of the agent; answers its status and `Connection`, or the code of its error. */
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

/** What the log says when a stop begins. */
const BEGUN = 'finishing the requests in flight';

/** When a line of the log with a text was written. */
function timeOf(output: string, text: string): number {
  const line = output.split('\n').find((one) => one.includes(text)) ?? '';
  return Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '');
}

/** A request that adds an animal, whose body of so many bytes is yet to be sent. */
function posting({ url }: ServiceProcess, key: string, length: number): ClientRequest {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': length,
  };
  return httpRequest(`${url}/v1/pets`, { method: 'POST', headers });
}

describe('a stop', () => {
  it('tells every client that is served that its connection ends, and resets none', async () => {
    const { service } = await start();
    const agents = Array.from({ length: 32 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const clients = agents.map(async (agent) => {
      for (;;) {
        const answer = await get(service.url, agent);
        if ('failed' in answer || answer.connection === 'close') return answer;
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

  it('answers the request in flight, and refuses new ones', async () => {
    const { service, key } = await start();
    const body = '{"name":"Last","categoryId":1}';
    const slow = posting(service, key, body.length);
    const answered = new Promise<number | undefined>((resolve) =>
      slow.on('response', (response) => resolve(response.resume().statusCode)),
    );
    slow.write(body.slice(0, 5));
    // The request is in flight once the service has answered another one sent after it.
    await service.request('GET', '/health/live');
    const stopped = service.stop('SIGTERM');
    await expect.poll(() => service.output).toContain(BEGUN);
    // On new connections: one that is kept, or not accepted yet, may still bring a request when the stop begins.
    const anew = () => get(service.url, new Agent());
    await expect.poll(anew).toEqual({ failed: 'ECONNREFUSED' });
    slow.end(body.slice(5));
    expect(await answered).toBe(201);
    expect((await stopped).code).toBe(0);
  });

  it('ends in time, though another process keeps the database locked', async () => {
    const { service, path } = await start({ SHUTDOWN_TIMEOUT_MS: '1000' });
    const other = await SqliteFile.open(join(path, 'data/petstore.sqlite'));
    onTestFinished(() => other.close());
    await other.run('BEGIN IMMEDIATE');
    await service.request('GET', '/v1/pets');
    // Each second another flush is due, which waits five seconds for the lock; the log is told of the lock alone.
    await expect.poll(() => service.output).toContain('is locked by another process');
    expect(service.output).not.toContain('Counters cannot be written');
    const { code, stdout } = await service.stop('SIGTERM');
    expect(code).toBe(0);
    expect(timeOf(stdout, 'Stopped') - timeOf(stdout, BEGUN)).toBeLessThan(60_000);
  });
});
