import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { emptyFolder, ROOT } from '../support/service-process.js';

const toEnd: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of toEnd.splice(0).toReversed()) await end();
});

/** Starts the service with a standard output that nobody can read from here. */
async function startWith(stdout: number | 'pipe'): Promise<{
  url: string;
  metrics: () => Promise<string>;
  child: ChildProcess;
  complaints: () => string;
}> {
  const folder = await emptyFolder();
  const [port, management] = [await freePort(), await freePort()];
  const child = spawn(process.execPath, [join(ROOT, 'dist/bundle/main.js')], {
    cwd: folder.path,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: String(port),
      MANAGEMENT_PORT: String(management),
    },
    stdio: ['ignore', stdout, 'pipe'],
  });
  toEnd.push(folder.remove, () => child.kill('SIGKILL'));
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/health/live`).then(
      (response) => response.ok,
      () => false,
    );
  await expect.poll(isUp).toBe(true);
  const metrics = async () => (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
  return { url, metrics, child, complaints: () => complaints };
}

const dropped = (exposition: string) =>
  Number(/^petstore_log_lines_dropped_total (\d+)/m.exec(exposition)?.[1]);

async function ask(url: string, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) {
    const response = await fetch(`${url}/favicon.ico`);
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  }
}

describe('a log that cannot be written', () => {
  it('because the disk is full touches no request, is told once, and does not hold the end up', async () => {
    const full = openSync('/dev/full', 'w');
    const { url, child, complaints } = await startWith(full);
    closeSync(full);
    await Promise.all(Array.from({ length: 8 }, () => ask(url, 100)));
    expect(complaints().match(/Log lines cannot be written: ENOSPC/g)).toHaveLength(1);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });

  it('because its reader is stuck is bounded: lines are dropped, counted, and requests go on', async () => {
    const { url, metrics, child } = await startWith('pipe');
    child.stdout?.pause();
    const id = 'x'.repeat(128);
    await expect
      .poll(
        async () => {
          const requests = Array.from({ length: 200 }, () =>
            fetch(`${url}/favicon.ico`, { headers: { 'x-request-id': id } }).then((one) => one.arrayBuffer()),
          );
          await Promise.all(requests);
          return dropped(await metrics());
        },
        { interval: 1 },
      )
      .toBeGreaterThan(0);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });
});
