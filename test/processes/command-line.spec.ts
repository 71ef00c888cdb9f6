import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import '../../src/root.module.js';
import { openDataSource } from '../../src/database/data-source.js';
import { jsonHere } from '../support/petstore-here.js';
import { ROOT, folderOfTest, petstore } from '../support/service-process.js';

// What the commands answer is asked in process, by test/api/command-line.spec.ts.

let folder: string;
beforeEach(async () => void (folder = await folderOfTest()));

const json = (...args: string[]) => jsonHere(folder, args);

describe('the petstore command', () => {
  it('prints the version of package.json', async () => {
    const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    for (const flag of ['--version', '-V'])
      expect(await petstore(folder, [flag])).toMatchObject({
        code: 0,
        stdout: `${manifest.version}\n`,
        stderr: '',
      });
  });

  it('exits 0 with its help, 2 for an invalid call, and 1 if it is refused', async () => {
    const help = await petstore(folder, ['--help']);
    expect([help.code, help.stdout]).toEqual([0, expect.stringMatching(/^Usage: petstore/)]);
    const none = await petstore(folder, ['client', 'feed']);
    expect([none.code, none.stdout, none.stderr]).toEqual([2, '', expect.stringMatching(/\w/)]);
    const refused = await petstore(folder, ['client', 'list'], { PORT: 'x' });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/PORT: "x" is not allowed/)]);
  });

  it('shows the pending migrations and changes nothing; migrate applies them', async () => {
    const declared = await openDataSource({ databaseUrl: 'sqlite::memory:' });
    const names = declared.migrations
      .map(({ constructor }) => constructor.name)
      .toSorted((a, b) => Number(a.slice(-13)) - Number(b.slice(-13)));
    await declared.destroy();
    expect(names.length).toBeGreaterThan(8);
    const NOTHING = { applied: [], pending: [], unknown: [], expansions: [] };
    expect(await json('db', 'status')).toEqual({ ...NOTHING, pending: names });
    expect(await json('db', 'status')).toEqual({ ...NOTHING, pending: names });
    expect(await json('db', 'migrate')).toEqual({ applied: names });
    expect(await json('db', 'migrate')).toEqual({ applied: [] });
    expect(await json('db', 'status')).toEqual({ ...NOTHING, applied: names });
  });

  it('verifies a key as JSON, and needs neither settings nor a database for it', async () => {
    const args = ['key', 'verify', `pst_test_${'0'.repeat(30)}2Wj70T`, '--json'];
    const { stdout } = await petstore(folder, args, { PORT: 'nonsense' });
    expect(JSON.parse(stdout)).toEqual({ wellFormed: true, environment: 'test', prefix: 'pst_test_0000' });
    expect(await readdir(folder)).toEqual([]);
  });
});
