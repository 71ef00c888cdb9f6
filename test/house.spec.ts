import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Rules that a house of these files breaks; each file exports a value and imports the given ones. */
async function rulesBrokenBy(imports: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
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
  const cruise = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const config = join(ROOT, '.dependency-cruiser.cjs');
  const report = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [cruise, 'src', '--config', config, '--output-type', 'json'],
      { cwd: house },
      (_error, out) => resolve(out),
    );
  });
  const { summary } = JSON.parse(report) as { summary: { violations: { rule: { name: string } }[] } };
  return summary.violations.map(({ rule }) => rule.name);
}

describe('the walls of the house', () => {
  it.each([
    ['a platform folder imports a feature', 'src/auth/a', 'src/toys/toy', 'platform-knows-no-feature'],
    [
      'the list of the chain imports a feature',
      'src/platform.module',
      'src/toys/toy',
      'platform-knows-no-feature',
    ],
    ['a feature imports another', 'src/toys/a', 'src/pets/pet.entity', 'features-use-the-public-surface'],
    [
      'a feature reaches into the platform',
      'src/toys/a',
      'src/accounts/api-key.entity',
      'features-use-the-public-surface',
    ],
    ['errors import another folder', 'src/errors/a', 'src/http/b', 'foundations-stand-alone'],
    [
      'the database imports throttling',
      'src/database/a',
      'src/throttling/b',
      'metrics-events-jobs-database-know-no-higher',
    ],
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
      'idempotency-paging-know-no-higher',
    ],
    ['http imports admin', 'src/http/a', 'src/admin/b', 'only-faces-know-administration'],
    ['the service imports a test', 'src/http/a', 'test/support/test-service', 'tests-stay-outside'],
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
    ['a feature listens to an event of another', 'src/toys/a', 'src/pets/pets.events'],
    ['a feature uses its own files', 'src/toys/a', 'src/toys/dto/b'],
    ['the service lists a feature', 'src/app.module', 'src/toys/toys.module'],
  ])('let pass when %s', async (_, from, to) => {
    expect(await rulesBrokenBy({ [from]: [to], [to]: [] })).toEqual([]);
  });
});
