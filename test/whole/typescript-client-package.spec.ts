import { readFile, readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.js';
import { type PackedClient, packedClient, readmeCode, readmeExample, run } from '../support/packed-client.js';
import { describeWith } from '../support/requirements.js';
import { ROOT, ServiceProcess, emptyFolder } from '../support/service-process.js';

/** In a scope, which npm can be told to look for in one registry alone: nobody else's package is taken for it. */
const NAME = '@petstore-service/client';

let packed: PackedClient;
beforeAll(async () => {
  packed = await packedClient();
  return packed.remove;
});

/** Compiles files that use the installed package; returns what the compiler says. */
async function compiled(codes: readonly string[], options: object = {}, extension = 'ts'): Promise<string> {
  const files = codes.map((_, index) => `used-${index}.${extension}`);
  for (const [index, file] of files.entries()) await writeFile(join(packed.folder, file), codes[index] ?? '');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    target: 'ES2022',
    module: 'node16',
    lib: ['ES2022'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    ...options,
  };
  await writeFile(join(packed.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  return run(packed.folder, process.execPath, [compiler, '-p', '.']).catch((error: Error) => error.message);
}

const USED = `
import { type Pet, PetNotFoundError, PetstoreClient, PetstoreError, type Schema, verifyWebhook } from '@petstore-service/client';
const big = new PetstoreClient({ baseUrl: 'https://api.example/v1', apiKey: async () => 'key' });
const text = new PetstoreClient({ baseUrl: 'https://api.example/v1', apiKey: 'key', int64: 'string', retry: { retries: 1 } });
export async function use(): Promise<void> {
  const one: Pet = await big.pets.create({ name: 'a', categoryId: '5' });
  const id: bigint = one.id;
  const other: Pet<string> = await text.pets.create({ name: 'a', categoryId: 5n, status: 'sold' }, { idempotencyKey: 'k' });
  const digits: string = other.categoryId;
  for await (const { id: same } of big.pets.list({ limit: 5 })) same satisfies bigint;
  for await (const { items, cursor } of text.list('listPets').pages()) (items[0]?.id ?? cursor) satisfies string | undefined;
  const same: Pet = await big.call('getPet', { path: { petId: id } });
  const account: Schema<'Account'> = await big.call('getAccount');
  const left: number | undefined = big.quota?.remaining;
  try {
    await text.call('revokeOwnKey', { path: { keyId: digits } });
  } catch (error) {
    if (error instanceof PetNotFoundError) error.code satisfies 'pet_not_found';
    if (error instanceof PetstoreError) error.code satisfies string;
  }
  const message = await verifyWebhook('{}', new Headers(), 'whsec_', { int64: 'string' });
  if (message.type === 'pets.created') message.data.categoryId satisfies string;
  void [same, account, left];
}
new PetstoreClient({ baseUrl: '', apiKey: '', fetch });
void big.pets.list({}, { signal: AbortSignal.timeout(5) });
void big.pets.create({ name: 'a', categoryId: 1 }, { signal: new AbortController().signal });
`;
/** Uses that the types refuse: what may be rounded, is not as chosen, or would be refused by the service. */
const REFUSED = [
  `const id: number = (await big.pets.create({ name: 'a', categoryId: 1 })).id;`,
  `const id: string = (await big.pets.create({ name: 'a', categoryId: 1 })).id;`,
  `for await (const pet of text.pets.list()) pet.id satisfies bigint;`,
  `await big.pets.create({ name: 'a' });`,
  `big.pets.list({ status: 'gone' });`,
  `await big.call('getPet');`,
  `await big.call('getAccountUsage', { query: { limit: 5 } });`,
  `await big.call('getToy');`,
  `big.list('getAccount');`,
  `new PetstoreClient({ baseUrl: '', apiKey: '', int64: 'number' });`,
  `await big.call('getAccount', { body: {} });`,
  `try {} catch (error) { if (error instanceof PetstoreError) error.code satisfies number; }`,
];

describe('the package of the typed client', () => {
  it('has what is built, the README and the licence, and is installed as the README says', async () => {
    const sources = (await readdir(join(ROOT, 'clients/typescript/src'), { recursive: true }))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.replace(/\.ts$/, ''));
    const built = ['cjs', 'esm'].flatMap((form) =>
      sources.flatMap((file) => [`dist/${form}/${file}.d.ts`, `dist/${form}/${file}.js`]),
    );
    const others = ['LICENSE', 'README.md', 'dist/cjs/package.json', 'package.json'];
    expect(packed.files.toSorted()).toEqual([...others, ...built].toSorted());
    expect(await readmeCode('sh')).toContain(`npm install ./${packed.file}\n`);
  });

  it.each([
    ['an ECMAScript module', {}, 'mts'],
    ['CommonJS, with the types of Node.js and of the DOM', { lib: ['ES2022', 'DOM'] }, 'cts'],
    [
      'by a bundler',
      { module: 'esnext', moduleResolution: 'bundler', types: [], lib: ['ES2023', 'DOM'] },
      'ts',
    ],
  ])('compiles under strict, its own types checked as well: %s', async (_, options, extension) => {
    expect(await compiled([USED], options, extension)).toBe('');
  });

  it('does not compile what the service would refuse, or what may be rounded', async () => {
    const wrong = (code: string) => `${USED}\nexport async function wrong() {\n  ${code}\n}\n`;
    const diagnostics = await compiled(REFUSED.map(wrong));
    const complaints = [...diagnostics.matchAll(/used-(\d+)\.ts\((\d+),\d+\): error TS/g)];
    expect(new Set(complaints.map(([, index]) => Number(index))), diagnostics).toEqual(
      new Set(REFUSED.keys()),
    );
    const last = USED.split('\n').length;
    for (const [, , line] of complaints) expect(Number(line), diagnostics).toBeGreaterThan(last);
  });
});

let service: ServiceProcess;
let pages: Server;
/** Another origin than the service's, which it lets in. */
let origin: string;
let example: string;
beforeAll(async () => {
  const data = await emptyFolder();
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
  const key = service.demoKey;
  example = await readmeExample(`${service.url}/v1`, key);
  await writeFile(join(packed.folder, 'example.js'), example);
  return async () => {
    await service.stop('SIGKILL');
    pages.close();
    await data.remove();
  };
});

/** What the example prints, but for animals, of which there are several, and for what is left of the quota. */
const PRINTED = [
  'added Rex of category 9007199254740993',
  'name: blank',
  expect.stringMatching(/^Demo may send 60 requests a minute, \d+ are left$/),
];

function printedBy(output: string): readonly string[] {
  const lines = output.trim().split('\n');
  const others = lines.filter((line) => !/^\d+ \S+/.test(line));
  return lines.length - others.length > 3 ? others : lines;
}

const onNode = (file: string) => run(packed.folder, process.execPath, [file]);

describe('the typed client on Node.js', () => {
  it('runs the example of its README unchanged', async () => {
    expect(printedBy(await onNode('example.js'))).toEqual(PRINTED);
  });

  it('is required by CommonJS, and names itself and its version', async () => {
    const client = JSON.stringify({ baseUrl: 'http://127.0.0.1/v1', apiKey: 'key' });
    const code = `const { PetstoreClient } = require('${NAME}');
      const fetch = async (_, init) => (console.log(init.headers['user-agent']), Response.json({}));
      void new PetstoreClient({ ...${client}, fetch }).call('getAccount');`;
    await writeFile(join(packed.folder, 'required.cjs'), code);
    const { version } = JSON.parse(await readFile(join(ROOT, 'clients/typescript/package.json'), 'utf8')) as {
      version: string;
    };
    expect(await onNode('required.cjs')).toBe(`petstore-service-client/${version}\n`);
  });
});

describeWith('browser', 'the typed client in a browser', () => {
  const page = (imports: string, script: string) => `<!doctype html><title>x</title>
    ${imports}<script type="module">${script}\nconsole.log('done');</script>`;

  /** What a script prints in a page of the other origin. */
  async function printed(script: string): Promise<string> {
    await writeFile(join(packed.folder, 'index.html'), page(await readmeCode('html'), script));
    const browser = await launchChromium();
    try {
      const tab = await browser.newPage();
      const lines: string[] = [];
      tab.on('pageerror', (error) => lines.push(String(error), 'done'));
      tab.on('console', (message) => lines.push(message.text()));
      await tab.goto(origin);
      await expect.poll(() => lines).toContain('done');
      // A browser itself says that it got a 400, and that the page has no icon.
      return lines
        .filter((line) => line !== 'done' && !line.startsWith('Failed to load resource'))
        .join('\n');
    } finally {
      await browser.close();
    }
  }

  it('runs the example of its README unchanged, in a page of another origin', async () => {
    expect(printedBy(await printed(example))).toEqual(PRINTED);
  });
});
