import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { supportedNode } from '../../bin/supported-node.js';
import { BARE_ENVIRONMENT, folderOfTest, ROOT } from '../support/service-process.js';

/** Runs a script of the project on what says that it is another version of Node.js. */
function runOn(version: string, script: string, args: readonly string[]) {
  const versions = `{ ...process.versions, node: '${version}' }`;
  const pretence = `Object.defineProperty(process, 'versions', { value: ${versions} });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${pretence}`, join(ROOT, script), ...args],
    { cwd: ROOT, env: BARE_ENVIRONMENT, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

const ENTRANCES = [
  ['dist/bundle/main.js', '--version'],
  ['dist/src/main.js', '--version'],
  ['bin/petstore.js', '--version'],
  ['scripts/build-if-stale.mjs', '--version'],
  ['scripts/check-node.mjs', '--version'],
] as const;

describe('a Node.js that does not run the service', () => {
  it.each(ENTRANCES)('is refused by %s in one sentence that says what to install', (script, argument) => {
    expect(runOn('18.20.4', script, [argument])).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Node.js 18.20.4 cannot run this service. Install the current LTS version from https://nodejs.org/ ' +
        `(supported: ${supportedNode()}).\n`,
    });
  });

  it.each(ENTRANCES)('is not refused by %s if it is at a bound', (script, argument) => {
    expect(runOn('20.19.0', script, [argument])).toMatchObject({ status: 0, stderr: '' });
  });
});

// 22.12 itself runs everything, but tools of development name 22.13.
it('a dist that was copied alone is refused in one sentence, without an endless search', async () => {
  const path = await folderOfTest();
  cpSync(join(ROOT, 'dist/bundle'), join(path, 'dist/bundle'), { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [join(path, 'dist/bundle/main.js')], {
    cwd: path,
    env: BARE_ENVIRONMENT,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^There is no package\.json above .*\. Copy package.json and node_modules together with dist\.\n$/,
  );
});
