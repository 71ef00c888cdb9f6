import { spawn } from 'node:child_process';
import { open as openFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { BARE_ENVIRONMENT, ROOT, ServiceProcess, emptyFolder } from '../support/service-process.js';

const MAIN = join(ROOT, 'dist/bundle/main.js');
const COLOURS = new RegExp(`${String.fromCodePoint(27)}\\[\\d+m`, 'g');

async function folder(): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  return path;
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  return response.status;
}

/** The JSON lines of a log. */
const linesOf = (log: string) =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Starts the service with its standard output on a terminal, or in a file that is opened to append. */
async function startOn(output: 'terminal' | { readonly file: string }) {
  const port = await freePort();
  const file = output === 'terminal' ? undefined : await openFile(output.file, 'a');
  const child = spawn(
    file ? process.execPath : 'script',
    file ? [MAIN] : ['-qefc', `exec '${process.execPath}' '${MAIN}'`, '/dev/null'],
    {
      cwd: await folder(),
      env: { ...BARE_ENVIRONMENT, PORT: String(port), MANAGEMENT_PORT: 'off' },
      stdio: ['ignore', file?.fd ?? 'pipe', 'ignore'],
    },
  );
  onTestFinished(() => void child.kill('SIGTERM'));
  await file?.close();
  let shown = '';
  child.stdout?.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => statusOf(`${url}/health/live`).catch(() => 0)).toBe(200);
  return { url, shown: () => shown.replace(COLOURS, '') };
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

it('JSON lines have a message and the level of the status; a database that is gone has one line, and no request a stack', async () => {
  const path = await folder();
  const service = await ServiceProcess.start(path, { LOG_LEVEL: 'debug' });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const [, key = ''] = /Bearer (pst_\w+)/.exec(service.output) ?? [];
  const pets = () => statusOf(`${service.url}/v1/pets`, { authorization: `Bearer ${key}` });
  expect([await pets(), await statusOf(`${service.url}/v1/pets`)]).toEqual([200, 401]);
  await rm(join(path, 'data/petstore.sqlite'));
  await expect.poll(pets, { interval: 500 }).toBe(503);
  for (let sent = 0; sent < 5; sent += 1) expect(await pets()).toBe(503);
  expect(await statusOf(`${service.url}/health/ready`)).toBe(503);
  const lines = linesOf((await service.stop()).stdout);
  const requests = lines.filter(({ route }) => route !== undefined);
  const seen = requests.map(
    ({ level, status, route }) => `${String(level)} ${String(status)} ${String(route)}`,
  );
  expect([...new Set(seen)]).toEqual([
    '30 200 /v1/pets',
    '30 401 /v1/pets',
    '50 503 /v1/pets',
    '20 503 /health/ready',
  ]);
  for (const { msg, status } of requests) expect(msg).toContain(` ${String(status)} `);
  expect(lines.filter(({ context, level }) => context === 'Database' && Number(level) >= 40)).toHaveLength(1);
  expect(lines.filter(({ stack }) => stack !== undefined)).toEqual([]);
});

it('a log that is opened to append may be copied and cut at any time: it goes on at its new end', async () => {
  const file = join(await folder(), 'petstore.log');
  const { url } = await startOn({ file });
  for (let sent = 0; sent < 20; sent += 1) await statusOf(`${url}/wp-login.php`);
  await expect.poll(async () => (await readFile(file, 'utf8')).split('GET unmatched').length).toBe(21);
  await writeFile(file, '');
  await statusOf(`${url}/docs`);
  await expect.poll(() => readFile(file, 'utf8')).toContain('GET /docs 200');
  const after = await readFile(file, 'utf8');
  expect(after).not.toContain('\0');
  expect(after).not.toContain('unmatched');
  expect(linesOf(after).at(-1)).toMatchObject({ route: '/docs', level: 30 });
});
