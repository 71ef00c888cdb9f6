import { execFile } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT, emptyFolder } from '../support/service-process.js';

const COMPILED = join(ROOT, 'dist/.compiled');

/** Lists the clients of an empty store, by the built command line. */
async function clients(environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'dist/bundle/cli/main.js'), 'client', 'list', '--json'],
    { cwd: path, env: { PATH: process.env.PATH, ...environment } },
  );
  return stdout;
}

function kept(): string[] {
  return readdirSync(COMPILED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

describe.skipIf(!('enableCompileCache' in module))('compiled code', () => {
  it('is kept beside the build', async () => {
    expect(await clients()).toBe('[]\n');
    expect(kept().length).toBeGreaterThan(100);
  });

  it('that is damaged is passed over', async () => {
    await clients();
    for (const file of kept()) writeFileSync(file, 'nothing that was compiled');
    expect(await clients()).toBe('[]\n');
  });
});

it('a start without it says nothing of it', async () => {
  expect(await clients({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('[]\n');
});
