import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cruise } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { describe, expect, it, onTestFinished } from 'vitest';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Rules that a house of these files breaks; each file exports a value and imports the given ones. */
async function rulesBrokenBy(imports: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const { summary } = JSON.parse(await lint(imports, 'json')) as {
    summary: { violations: { rule: { name: string } }[] };
  };
  return summary.violations.map(({ rule }) => rule.name);
}

/** What the check of the walls says of such a house. */
async function lint(
  imports: Readonly<Record<string, readonly string[]>>,
  output: 'json' | 'err-long',
): Promise<string> {
  const house = await mkdtemp(join(tmpdir(), 'house-'));
  onTestFinished(() => rm(house, { recursive: true }));
  for (const [file, targets] of Object.entries(imports)) {
    const lines = targets.map(
      (target) => `import '${'../'.repeat(file.split('/').length - 1)}${target}.js';\n`,
    );
    await mkdir(dirname(join(house, `${file}.ts`)), { recursive: true });
    await writeFile(join(house, `${file}.ts`), `${lines.join('')}export const value = 1;\n`);
  }
  await writeFile(join(house, 'tsconfig.json'), '{}');
  const folders = (await readdir(house)).filter((folder) => /^(src|examples|clients)$/.test(folder));
  const options = await extractDepcruiseOptions(join(ROOT, '.dependency-cruiser.cjs'));
  const said = await cruise(
    folders,
    { ...options, baseDir: house, outputType: output },
    {},
    { tsConfig: extractTSConfig(join(house, 'tsconfig.json')) },
  );
  return typeof said.output === 'string' ? said.output : JSON.stringify(said.output);
}

describe('the walls of the house', () => {
  it.each([
    ['a platform folder imports a feature', 'src/auth/a', 'src/toys/toy', 'platform-knows-no-feature'],
    [
      'the list of the chain imports a feature',
      'src/http/http.module',
      'src/toys/toy',
      'platform-knows-no-feature',
    ],
    ['a feature imports another', 'src/toys/a', 'src/pets/pet.entity', 'features-use-the-public-surface'],
    [
      'a feature reaches into the platform',
      'src/toys/a',
      'src/auth/clients/api-key.entity',
      'features-use-the-public-surface',
    ],
    ['errors import another folder', 'src/errors/a', 'src/http/b', 'foundations-stand-alone'],
    [
      'the database imports throttling',
      'src/database/a',
      'src/throttling/b',
      'metrics-events-jobs-database-know-no-higher',
    ],
    ['tracing imports metrics', 'src/tracing/a', 'src/metrics/b', 'tracing-know-no-higher'],
    ['throttling imports auth', 'src/throttling/a', 'src/auth/b', 'throttling-audit-know-no-higher'],
    ['audit imports accounts', 'src/audit/a', 'src/accounts/b', 'throttling-audit-know-no-higher'],
    ['accounts import auth', 'src/accounts/a', 'src/auth/b', 'accounts-know-no-higher'],
    ['auth imports http', 'src/auth/a', 'src/http/b', 'auth-know-no-higher'],
    ['logging imports http', 'src/logging/a', 'src/http/b', 'logging-deprecation-know-no-higher'],
    ['http imports caching', 'src/http/a', 'src/caching/b', 'http-know-no-higher'],
    ['input imports paging', 'src/input/a', 'src/paging/b', 'input-caching-know-no-higher'],
    [
      'idempotency imports openapi',
      'src/idempotency/a',
      'src/openapi/b',
      'idempotency-paging-pages-know-no-higher',
    ],
    ['http imports admin', 'src/http/a', 'src/admin/b', 'only-faces-know-administration'],
    ['self-service imports administration', 'src/account/a', 'src/admin/b', 'faces-stand-alone'],
    ['what faces share imports a face', 'src/faces/a', 'src/account/b', 'faces-stand-alone'],
    [
      'a feature imports an event of another',
      'src/toys/a',
      'src/pets/pets.events',
      'features-use-the-public-surface',
    ],
    [
      'a feature imports a public file of no feature',
      'src/toys/a',
      'src/pets/toys.public',
      'features-use-the-public-surface',
    ],
    [
      'a platform folder imports a public file',
      'src/auth/a',
      'src/pets/pets.public',
      'platform-knows-no-feature',
    ],
    ['the public surface lists a feature', 'src/public', 'src/pets/pets.public', 'platform-knows-no-feature'],
    ['a feature imports the test kit', 'src/toys/a', 'test/kit/testing', 'kit-is-for-tests'],
    ['the platform imports the test kit', 'src/http/a', 'test/kit/testing', 'kit-is-for-tests'],
    [
      'the typed client imports the service',
      'clients/typescript/src/a',
      'src/errors/b',
      'clients-stand-alone',
    ],
    [
      'the service imports the typed client',
      'src/http/a',
      'clients/typescript/src/b',
      'service-knows-no-client',
    ],
    ['the service imports a test', 'src/http/a', 'test/support/raw-http', 'tests-stay-outside'],
    ['the test kit imports a test', 'src/testing/a', 'test/support/raw-http', 'tests-stay-outside'],
  ])('stop the lint when %s', async (_, from, to, rule) => {
    expect(await rulesBrokenBy({ [from]: [to], [to]: [] })).toEqual([rule]);
  });

  it('stop a circle', async () => {
    expect(await rulesBrokenBy({ 'src/http/a': ['src/http/b'], 'src/http/b': ['src/http/a'] })).toContain(
      'no-circles',
    );
  });

  it.each([
    ['a feature uses the public surface', 'src/toys/a', 'src/auth/auth.decorators'],
    ['a feature uses what src/public.ts has gained', 'src/toys/a', 'src/http/async.interceptor'],
    ['a feature listens to an event of the platform', 'src/toys/a', 'src/throttling/throttling.events'],
    ['a feature uses what another shows', 'src/toys/a', 'src/pets/pets.public'],
    ['a suite of a feature uses the test kit', 'src/toys/a.spec', 'test/kit/testing'],
    ['a suite of the platform uses the test kit', 'src/auth/a.spec', 'test/kit/testing'],
    ['a feature uses its own files', 'src/toys/a', 'src/toys/dto/b'],
    ['the service lists a feature', 'src/app.module', 'src/toys/toys.module'],
  ])('let pass when %s', async (_, from, to) => {
    expect(await rulesBrokenBy({ [from]: [to], [to]: [] })).toEqual([]);
  });

  it.each([
    ['reaches into the platform', 'src/accounts/a', ['examples-are-packages', 'examples-import-by-name']],
    ['imports a test', 'test/support/a', ['examples-are-packages']],
    ['imports by its path what it may import by name', 'src/public', ['examples-import-by-name']],
  ])('stop the lint when an example %s', async (_, to, rules) => {
    expect((await rulesBrokenBy({ 'examples/toys/a': [to], [to]: [] })).toSorted()).toEqual(rules);
  });

  it('say what is public, and what to do, in the words that `npm run lint` prints', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: { lint: string };
    };
    expect(scripts.lint).toContain('--output-type err-long');
    const said = await lint({ 'src/toys/a': ['src/pets/pet.entity'], 'src/pets/pet.entity': [] }, 'err-long');
    expect(said.replace(/\s+/g, ' ')).toMatch(
      /src\/public\.ts names.*<feature>\.public\.ts.*export it there/,
    );
  });
});

describe('the public surface', () => {
  /** What a file imports or exports by name, from which file below src. */
  async function namesFrom(file: string, word: 'import' | 'export'): Promise<[from: string, name: string][]> {
    const text = await readFile(join(ROOT, 'src', file), 'utf8');
    const statements = text.matchAll(
      new RegExp(`^${word} (?:type )?\\{([^}]*)\\} from '(\\.[^']+)\\.js';`, 'gm'),
    );
    return [...statements].flatMap(([, names = '', from = '']) =>
      names
        .split(',')
        .map((name) =>
          name
            .trim()
            .replace(/^type /, '')
            .replace(/ as .*/, ''),
        )
        .filter((name) => name !== '')
        .map((name): [string, string] => [join(dirname(file), from), name]),
    );
  }

  it('has every name that a feature uses of the platform, so that a package can use it as well', async () => {
    const shown = (await namesFrom('public.ts', 'export')).map(String);
    expect(shown.length).toBeGreaterThan(50);
    const features = (await namesFrom('app.module.ts', 'import'))
      .map(([from]) => dirname(from))
      .filter((folder) => !['.', 'account', 'admin'].includes(folder));
    expect(features).toContain('pets');
    const files = (await readdir(join(ROOT, 'src'), { recursive: true })).filter(
      (file) => features.includes(file.split('/')[0] ?? '') && /(?<!\.spec)\.ts$/.test(file),
    );
    const used = (await Promise.all(files.map((file) => namesFrom(file, 'import')))).flat();
    const ofPlatform = used.filter(([from]) => !features.includes(from.split('/')[0] ?? ''));
    expect(ofPlatform.length).toBeGreaterThan(10);
    expect(ofPlatform.map(String).filter((name) => !shown.includes(name))).toEqual([]);
  });
});
