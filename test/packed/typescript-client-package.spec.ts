import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PackedClient, packedClient, run } from '../support/packed-client.js';
import { ROOT } from '../support/service-process.js';

/** In a scope, which npm can be told to look for in one registry alone: nobody else's package is taken for it. */
const NAME = '@petstore-service/client';

let packed: PackedClient;
beforeAll(async () => {
  packed = await packedClient();
});
afterAll(() => packed?.remove());

/** Compiles a file that uses the installed package; answers what the compiler says. */
async function compiled(code: string, options: object = {}): Promise<string> {
  await writeFile(join(packed.folder, 'used.ts'), code);
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    target: 'ES2022',
    module: 'nodenext',
    lib: ['ES2022'],
    types: [],
    ...options,
  };
  await writeFile(
    join(packed.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['used.ts'] }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  return run(packed.folder, process.execPath, [compiler, '-p', '.']).catch((error: Error) => error.message);
}

const USED = `
import { type Pet, PetNotFoundError, PetstoreClient, PetstoreError, type Schema } from '@petstore-service/client';
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
    await text.account.keys.revoke(digits);
  } catch (error) {
    if (error instanceof PetNotFoundError) error.code satisfies 'pet_not_found';
    if (error instanceof PetstoreError) error.retryAfterMs satisfies number | undefined;
  }
  void [same, account, left];
}
`;
const WITH_SIGNAL = `${USED}
new PetstoreClient({ baseUrl: '', apiKey: '', fetch });
void big.pets.list({}, { signal: AbortSignal.timeout(5) });
void big.pets.create({ name: 'a', categoryId: 1 }, { signal: new AbortController().signal });
`;
const NODE_TYPES = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };

describe('the package of the typed client', () => {
  it('has what is built, the README and the licence, and nothing else', async () => {
    const sources = (await readdir(join(ROOT, 'clients/typescript/src'), { recursive: true }))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `dist/${file.replace(/\.ts$/, '')}`);
    const built = sources.flatMap((file) => [`${file}.d.ts`, `${file}.js`]);
    expect(packed.files.toSorted()).toEqual(['LICENSE', 'README.md', ...built, 'package.json'].toSorted());
  });

  it('is installed from its file, as its README says, because no registry has it', async () => {
    const readme = await readFile(join(packed.folder, 'node_modules', NAME, 'README.md'), 'utf8');
    const installed = [...readme.matchAll(/npm install (\S+)/g)].map(([, what]) => what);
    expect(installed).toEqual([`./${packed.file}`]);
  });

  it('depends on nothing, neither by its manifest nor by its files', async () => {
    const installed = join(packed.folder, 'node_modules');
    expect((await readdir(installed)).filter((name) => !name.startsWith('.'))).toEqual(['@petstore-service']);
    const manifest = JSON.parse(await readFile(join(installed, NAME, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual([]);
    const root = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { license: string };
    expect(manifest).toMatchObject({ name: NAME, license: root.license, sideEffects: false });
    for (const file of packed.files.filter((one) => one.endsWith('.js'))) {
      const text = await readFile(join(installed, NAME, file), 'utf8');
      const imported = [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)/g)].map(([, from = '']) => from);
      expect(imported.filter((from) => !from.startsWith('.'))).toEqual([]);
    }
  });

  it.each([
    ['without types of a platform', USED, {}],
    ['with those of the DOM', WITH_SIGNAL, { lib: ['ES2022', 'DOM', 'DOM.Iterable'] }],
    ['with those of Node', WITH_SIGNAL, NODE_TYPES],
    ['with both', WITH_SIGNAL, { ...NODE_TYPES, lib: ['ES2022', 'DOM'] }],
    ['by a bundler', WITH_SIGNAL, { module: 'esnext', moduleResolution: 'bundler', lib: ['ES2023', 'DOM'] }],
    ['with an older library', USED, { target: 'ES2020', lib: ['ES2020'] }],
  ])('compiles under strict, its own types checked as well: %s', async (_, code, options) => {
    expect(await compiled(code, options)).toBe('');
  });

  it.each([
    [
      'a number that may be rounded',
      `const id: number = (await big.pets.create({ name: 'a', categoryId: 1 })).id;`,
    ],
    [
      'a string where bigint was chosen',
      `const id: string = (await big.pets.create({ name: 'a', categoryId: 1 })).id;`,
    ],
    [
      'a bigint where strings were chosen',
      `for await (const pet of text.pets.list()) pet.id satisfies bigint;`,
    ],
    ['an animal without a category', `await big.pets.create({ name: 'a' });`],
    ['a status that there is not', `big.pets.list({ status: 'gone' });`],
    ['a path that is left out', `await big.call('getPet');`],
    ['a query of another operation', `await big.call('getAccountUsage', { query: { limit: 5 } });`],
    ['an operation that there is not', `await big.call('getToy');`],
    ['what is no list', `big.list('getAccount');`],
    ['a form that there is not', `new PetstoreClient({ baseUrl: '', apiKey: '', int64: 'number' });`],
    ['a body where none is taken', `await big.call('getAccount', { body: {} });`],
  ])('does not compile %s', async (_, code) => {
    const said = await compiled(`${USED}\nexport async function wrong() {\n  ${code}\n}\n`);
    const lines = said.split('\n').filter((line) => line.includes('error TS'));
    expect(lines.length, said).toBeGreaterThan(0);
    const last = USED.split('\n').length;
    for (const line of lines) expect(Number(/used\.ts\((\d+),/.exec(line)?.[1]), said).toBeGreaterThan(last);
  });

  it('marks what will be removed', async () => {
    const types = await readFile(
      join(packed.folder, 'node_modules', NAME, 'dist/petstore-client.d.ts'),
      'utf8',
    );
    expect(types).toMatch(/@deprecated[^]{0,200}\n\s*get\(petId:/);
  });
});
