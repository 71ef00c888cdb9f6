import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT, emptyFolder } from '../support/service-process.js';

/** How much code, in bytes, as long as nothing is asked of the service: a whole one has 7.5 million. */
const MOST_BYTES = 250_000;
const MOST_BYTES_OF_SERVICE = 8_000_000;
/** A service has some 110 files of the bundle, and 50 of packages outside. */
const MOST_FILES = 24;
const MOST_FILES_OF_SERVICE = 180;

/** Runs the built command line in an empty folder; answers the files that it has loaded. */
async function loadedBy(args: readonly string[]): Promise<string[]> {
  const { path, remove } = await emptyFolder();
  onTestFinished(remove);
  const list = join(path, 'loaded-modules');
  const preload = pathToFileURL(join(ROOT, 'test/support/loaded-modules.mjs')).href;
  const main = join(ROOT, 'dist/bundle/cli/main.js');
  await new Promise<void>((resolve) => {
    execFile(
      process.execPath,
      ['--import', preload, main, ...args],
      { cwd: path, env: { PATH: process.env.PATH, LOADED_MODULES: list } },
      () => resolve(),
    );
  });
  const modules = readFileSync(list, 'utf8').trim().split('\n');
  const files = modules.filter((name) => !name.startsWith('node:'));
  return [...new Set(files.map((name) => (name.startsWith('file:') ? fileURLToPath(name) : name)))];
}

function packagesOf(files: readonly string[]): string[] {
  const names = files.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

it.each([
  '--help',
  '--version',
  'client --help',
  'client create --help',
  'generate feature --help',
  'no-such-command',
  'client create --no-such-option',
  'key verify pst_live_nothing',
  'completion bash',
  'completion zsh',
  'completion fish',
])('petstore %s loads what tells it, and nothing of the service', async (call) => {
  const files = await loadedBy(call.split(' '));
  expect(packagesOf(files)).toEqual([]);
  expect(files.length).toBeLessThan(MOST_FILES);
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(MOST_BYTES);
});

it('a command that needs the service loads it, joined but for what is native or may start workers', async () => {
  const files = (await loadedBy(['client', 'list'])).filter((file) => !file.endsWith('.node'));
  const packages = packagesOf(files);
  expect(packages).toContain('sqlite3');
  expect(packages).not.toContain('typeorm');
  expect(files.length).toBeLessThan(MOST_FILES_OF_SERVICE);
  expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(MOST_BYTES_OF_SERVICE);
});
