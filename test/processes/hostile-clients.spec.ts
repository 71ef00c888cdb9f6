import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { clientWithKey } from '../support/petstore-here.js';
import { openSocket, receivedBy, statusesIn } from '../support/raw-http.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

const END = '\r\n\r\n';

let service: ServiceProcess;
let key: string;
beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  // A busy machine makes the event loop late enough for the service to refuse what others ask: overload has its own suite.
  const environment = {
    NODE_ENV: 'production',
    MAX_EVENT_LOOP_LAG_MS: '0',
    MAX_REQUESTS_IN_FLIGHT: '0',
    // The heap that Node.js chooses in a container of 512 MiB.
    NODE_OPTIONS: '--max-old-space-size=256',
  };
  service = await ServiceProcess.start(path, environment);
  ({ key } = await clientWithKey(path, environment));
  return () => service.stop().then(remove);
});

const withKey = () => `Authorization: Bearer ${key}\r\n`;
const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
const residentMiB = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;

const open = (): Promise<Socket> => openSocket(service.url);

async function innocent(): Promise<number> {
  return (await service.request('GET', '/v1/pets?limit=1', { key })).status;
}

/** Waits until the service has let go of what it held for connections that are closed. */
async function settled(before: number): Promise<void> {
  await expect.poll(descriptors, { interval: 50 }).toBeLessThanOrEqual(before + 5);
}

describe('a client that never reads', () => {
  it('and requests a large page 600 times on each of 20 connections leaves nothing behind', async () => {
    expect(await innocent()).toBe(200);
    const before = descriptors();
    const memory = residentMiB();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open()));
    for (const socket of sockets)
      socket.pause().write(`GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`.repeat(600));
    for (let round = 0; round < 20; round += 1) expect(await innocent()).toBe(200);
    for (const socket of sockets) socket.destroy();
    await settled(before);
    expect(residentMiB() - memory).toBeLessThan(150);
  });
});

describe('clients that send more heads behind a response that they do not read', () => {
  it('2,000 of them, 1 MB each, fit into 512 MiB with everything else', async () => {
    const before = descriptors();
    const large = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a${END}`;
    const waiting = `GET /x HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(15_000)}${END}`.repeat(64);
    const sockets: Socket[] = [];
    for (let opened = 0; opened < 2_000; opened += 100) {
      const more = await Promise.all(Array.from({ length: 100 }, () => open()));
      for (const socket of more) socket.pause().write(large + waiting);
      sockets.push(...more);
      expect(await innocent()).toBe(200);
    }
    for (let round = 0; round < 20; round += 1) expect(await innocent()).toBe(200);
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect(residentMiB()).toBeLessThan(450);
    for (const socket of sockets) socket.destroy();
    await settled(before);
  });
});

describe('a client that sends thousands of requests at once', () => {
  it('is read no further once one of them waits, and leaves nothing behind that others would wait for', async () => {
    const before = descriptors();
    const memory = residentMiB();
    const socket = (await open()).pause();
    const sent = `GET /x HTTP/1.1\r\nHost: a${END}`.repeat(500_000);
    socket.write(sent);
    for (let round = 0; round < 20; round += 1) expect(await innocent()).toBe(200);
    // Far more than the kernel takes of it.
    expect(socket.writableLength).toBeGreaterThan(0);
    expect(residentMiB() - memory).toBeLessThan(150);
    socket.destroy();
    for (let round = 0; round < 10; round += 1) expect(await innocent()).toBe(200);
    await settled(before);
  });

  it('does not delay others: they are served between its requests', async () => {
    const socket = await open();
    let responses = 0;
    socket.on('data', (chunk: Buffer) => (responses += statusesIn(chunk.toString('latin1')).length));
    socket.write(`GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\n${withKey()}\r\n`.repeat(3_000));
    await once(socket, 'data');
    for (let round = 0; round < 10; round += 1) expect(await innocent()).toBe(200);
    const respondedMeanwhile = responses;
    socket.destroy();
    expect(respondedMeanwhile).toBeLessThan(3_000);
  });

  it('does not keep others from connecting, no matter how many do the same', async () => {
    const burst = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\n${withKey()}\r\n`.repeat(40);
    const { hostname, port } = new URL(service.url);
    let responses = 0;
    // Each sends before the service has accepted it.
    const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname));
    for (const socket of sockets) {
      socket.write(burst);
      socket
        .setEncoding('latin1')
        .on('data', (chunk: string) => (responses += chunk.split('HTTP/1.1 ').length - 1));
    }
    await expect.poll(() => responses, { interval: 1 }).toBeGreaterThan(0);
    const { status } = await fetch(`${service.url}/health/live`, { headers: { connection: 'close' } });
    const before = responses;
    expect(status).toBe(200);
    await expect.poll(() => responses).toBe(300 * 40);
    expect(before).toBeLessThan((300 * 40) / 2);
    for (const socket of sockets) socket.destroy();
  });
});

describe('clients that come at once while the service does something else', () => {
  it('are all accepted: as many as the kernel queues for a server, not the 511 that Node requests', async () => {
    const backlog = Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
    const clients = Math.min(1_000, backlog);
    let connected: Socket[] = [];
    process.kill(service.pid, 'SIGSTOP');
    try {
      // The kernel connects them; where it keeps no more, it lets the rest wait for seconds and drops what they send.
      connected = await Promise.all(Array.from({ length: clients }, () => open()));
    } finally {
      process.kill(service.pid, 'SIGCONT');
    }
    const responses = connected.map(receivedBy);
    for (const socket of connected)
      socket.write(`GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close${END}`);
    const statuses = (await Promise.all(responses)).flatMap(statusesIn);
    expect(statuses).toEqual(Array.from({ length: clients }, () => 200));
  });
});

describe('clients that use up all descriptors', () => {
  it('exclude only new ones, and nobody once they are closed', async () => {
    const held = await open();
    const limit = (nofile: string) =>
      execFileSync('prlimit', ['--pid', `${service.pid}`, `--nofile=${nofile}`]);
    const most = execFileSync('prlimit', [
      '--pid',
      `${service.pid}`,
      '--nofile',
      '-o',
      'SOFT',
      '--noheadings',
    ]);
    limit(`${descriptors() + 20}:`);
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open()));
    const responses = receivedBy(held);
    held.write(`GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\n${withKey()}Connection: close${END}`);
    expect(statusesIn(await responses)).toEqual([200]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => innocent().catch(String)).toBe(200);
    limit(`${String(most).trim()}:`);
    expect(await innocent()).toBe(200);
  });
});

describe('what was carried out', () => {
  it('is logged, although its client did not wait for the response', async () => {
    const socket = await open();
    const id = 'gone-before-the-answer';
    const body = '{"name":"Left","categoryId":1}';
    socket.write(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n${withKey()}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
    await expect.poll(() => service.output).toContain(`"requestId":"${id}"`);
  });
});
