import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.js';
import { type PackedClient, packedClient, readmeExample, run } from '../support/packed-client.js';
import { describeWith } from '../support/requirements.js';
import { ROOT, ServiceProcess, emptyFolder } from '../support/service-process.js';

let packed: PackedClient;
let service: ServiceProcess;
let pages: Server;
/** Another origin than the service's, which it lets in. */
let origin: string;
let example: string;
const removals: (() => Promise<void>)[] = [];

beforeAll(async () => {
  packed = await packedClient();
  const data = await emptyFolder();
  removals.push(packed.remove, data.remove);
  pages = createServer((request, response) => {
    const file = request.url === '/' ? 'index.html' : (request.url ?? '');
    const type = extname(file) === '.html' ? 'text/html' : 'text/javascript';
    readFile(join(packed.folder, file)).then(
      (content) => response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  service = await ServiceProcess.start(data.path, { CORS_ORIGINS: origin });
  const [, key = ''] = /Bearer (pst_test_\w+)/.exec(service.output) ?? [];
  example = await readmeExample(`${service.url}/v1`, key);
  await writeFile(join(packed.folder, 'example.js'), example);
  await cp(join(ROOT, 'test/support/client-faults.mjs'), join(packed.folder, 'faults.mjs'));
});
afterAll(async () => {
  await service?.stop('SIGKILL');
  pages?.close();
  await Promise.all(removals.map((remove) => remove()));
});

/** What the example prints, with one line for all animals, and with N for what is left. */
const PRINTED = [
  'added Rex of category 9007199254740993',
  'animals',
  'name: blank',
  'Demo may send 60 requests a minute, N are left',
];

function printedBy(output: string): string[] {
  const lines = output
    .trim()
    .replace(/\d+ are left$/, 'N are left')
    .split('\n');
  const animals = lines.filter((line) => /^\d+ \S+/.test(line));
  const others = lines.filter((line) => !animals.includes(line));
  return [...others.slice(0, 1), ...(animals.length > 3 ? ['animals'] : []), ...others.slice(1)];
}

/** What the client makes of faults (support/client-faults.mjs), the same everywhere. */
const FOUND = {
  'no answer': 'TimeoutError',
  'no end': 'TimeoutError',
  half: 'ConnectionError',
  'no last chunk': 'ConnectionError',
  redirection: 'UnexpectedResponseError',
  'aborted, no answer': true,
  'aborted, no end': true,
  'nothing listens': 'ConnectionError',
};

const onNode = (file: string) => run(packed.folder, process.execPath, [file]);
const onDeno = (file: string) =>
  run(
    packed.folder,
    'deno',
    ['run', '--quiet', '--cached-only', '--node-modules-dir=manual', '--allow-net', '--allow-env', file],
    { DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' },
  );
const onBun = (file: string) => run(packed.folder, 'bun', ['run', '--no-install', file], { NO_COLOR: '1' });

describe('the typed client on Node.js', () => {
  it('runs the example of its README as it stands', async () => {
    expect(printedBy(await onNode('example.js'))).toEqual(PRINTED);
  });

  it('tells faults of the connection, time limits, redirections and aborted calls', async () => {
    expect(JSON.parse(await onNode('faults.mjs'))).toEqual(FOUND);
  });
});

describeWith('deno', 'the typed client on Deno', () => {
  it('runs the example of its README as it stands', async () => {
    expect(printedBy(await onDeno('example.js'))).toEqual(PRINTED);
  });

  it('tells faults as it does on Node.js', async () => {
    expect(JSON.parse(await onDeno('faults.mjs'))).toEqual(FOUND);
  });
});

describeWith('bun', 'the typed client on Bun', () => {
  it('runs the example of its README as it stands', async () => {
    expect(printedBy(await onBun('example.js'))).toEqual(PRINTED);
  });

  it('tells faults as it does on Node.js', async () => {
    expect(JSON.parse(await onBun('faults.mjs'))).toEqual(FOUND);
  });
});

describeWith('browser', 'the typed client in a browser', () => {
  const page = (script: string) => `<!doctype html><title>x</title>
    <script type="importmap">{"imports":{"@petstore-service/client":"/node_modules/@petstore-service/client/dist/index.js"}}</script>
    <script type="module">${script}\nconsole.log('done');</script>`;

  /** What a script prints in a page of the other origin. */
  async function printed(script: string): Promise<string> {
    await writeFile(join(packed.folder, 'index.html'), page(script));
    const browser = await launchChromium();
    try {
      const tab = await browser.newPage();
      const lines: string[] = [];
      tab.on('pageerror', (error) => lines.push(String(error), 'done'));
      tab.on('console', (message) => lines.push(message.text()));
      await tab.goto(origin);
      await expect.poll(() => lines.at(-1)).toBe('done');
      // A browser itself says that it got a 400.
      return lines
        .filter((line) => line !== 'done' && !line.startsWith('Failed to load resource'))
        .join('\n');
    } finally {
      await browser.close();
    }
  }

  it('runs the example of its README as it stands, in a page of another origin', async () => {
    expect(printedBy(await printed(example))).toEqual(PRINTED);
  });

  it('reads all that a refusal tells there, too: id, help and when to come back', async () => {
    const script = example
      .replace(/const added[^]*/, '')
      .replace('apiKey:', 'retry: { retries: 0 }, apiKey:');
    const said = await printed(`${script}
      const error = await client.pets.create({ name: '', categoryId: 1 }).catch((refused) => refused);
      console.log(JSON.stringify([error.code, /^[\\w-]+$/.test(error.requestId), new URL(error.help).hash]));
      let limited = {};
      // More than a minute's requests, because the minute may turn among them.
      for (let left = 600; left > 0 && limited.code === undefined; left -= 1)
        limited = await client.pets.list().pages().next().catch((refused) => refused);
      console.log(JSON.stringify([limited.code, limited.retryAfterMs > 0]));`);
    expect(said.split('\n').map((line) => JSON.parse(line) as unknown)).toEqual([
      ['validation_failed', true, '#validation_failed'],
      ['rate_limit_exceeded', true],
    ]);
  });
});
