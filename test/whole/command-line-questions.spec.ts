import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { OnTerminal } from '../support/on-terminal.js';
import { jsonHere, petstoreHere } from '../support/petstore-here.js';
import {
  BARE_ENVIRONMENT,
  emptyFolder,
  folderOfTest,
  petstore,
  ran,
  SERVICE,
} from '../support/service-process.js';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const PETSTORE = join(SERVICE, 'bin/petstore.js');

// test/api/command-line-questions.spec.ts tests the prompts and the effect of each answer. This file tests the behavior of the process.

let folder: string;
let client: string;
beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  folder = path;
  client = (await json('client', 'create', '--name', 'Acme', '--plan', 'free')).id;
  return remove;
});

const json = (...args: string[]) => jsonHere(folder, args);
const makeKey = async (): Promise<{ id: string; key: string }> => json('key', 'issue', '--client', client);

it('an irreversible command is refused before a database is created, without a terminal', async () => {
  const fresh = await folderOfTest();
  const { code, stdout, stderr } = await petstore(fresh, ['client', 'delete', client]);
  expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('--yes')]);
  expect(existsSync(join(fresh, 'data/petstore.sqlite'))).toBe(false);
});

describe('on a terminal', () => {
  it('a key is typed without echo, a prompt is answered, and standard output contains only the result', async () => {
    const { id, key } = await makeKey();
    const terminal = OnTerminal.petstore(folder, 'key revoke - --json > revoked.json');
    await terminal.shows('Key: ');
    terminal.type(`${key}\r`);
    await terminal.shows(`Revoke the key ${id} (${key.slice(0, 13)}…) permanently? [y/N] `);
    terminal.type('yes\r');
    expect(await terminal.end()).toBe(0);
    expect(terminal.screen).not.toContain(key);
    expect(JSON.parse(await readFile(join(folder, 'revoked.json'), 'utf8'))).toMatchObject({
      id,
      revokedAt: expect.any(String),
    });
  });

  it('a question is left by Ctrl-D and Ctrl-C, also behind a yes that was not sent, in place of a key, or when it cannot be seen', async () => {
    const { id } = await makeKey();
    const revoke = `key revoke ${id}`;
    for (const [command, question, keys, code, output] of [
      [revoke, '? [y/N] ', CTRL_D, 1, /Nothing was changed\.\r\n$/],
      [revoke, '? [y/N] ', `yes${CTRL_C}`, 130, /Nothing was changed\.\r\n$/],
      ['key verify -', 'Key: ', CTRL_D, 2, /Key: Standard input is empty/],
      ['key verify -', 'Key: ', CTRL_C, 130, /Nothing was changed/],
    ] as const) {
      const terminal = OnTerminal.petstore(folder, command);
      await terminal.shows(question);
      terminal.type(keys);
      expect(await terminal.end()).toBe(code);
      expect(terminal.screen).toMatch(output);
    }
    const unseen = OnTerminal.petstore(folder, `key revoke ${id} 2> told.txt`);
    expect(await unseen.end()).toBe(1);
    expect(await readFile(join(folder, 'told.txt'), 'utf8')).toContain('--yes');
    expect((await json('key', 'show', id)).revokedAt).toBeNull();
  });
});

it('a key from a pipe is taken', async () => {
  const line = `printf '%s' "$INPUT" | '${process.execPath}' '${PETSTORE}' key verify - --json`;
  const environment = { ...BARE_ENVIRONMENT, INPUT: (await makeKey()).key };
  expect(await ran(folder, 'sh', ['-c', line], environment)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"wellFormed": true'),
    stderr: '',
  });
});

describe('demo data in production', () => {
  const NODE_ENV = 'production';

  it('is added by a script that says --yes alone', async () => {
    const refused = await petstoreHere(folder, ['db', 'seed', '--count', '2'], { NODE_ENV });
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('add --yes') });
    const { code, stdout } = await petstoreHere(folder, ['db', 'seed', '--count', '1', '--yes'], {
      NODE_ENV,
    });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Added [1-9] rows? of demo data\.\n$/)]);
  });

  it('is prompted for on a terminal, with the database', async () => {
    const terminal = OnTerminal.petstore(folder, 'db seed --count 1', { NODE_ENV });
    await terminal.shows(
      'Add demo data, which no command can remove, to the production database sqlite:data/petstore.sqlite',
    );
    terminal.type('n\r');
    expect(await terminal.end()).toBe(1);
    expect(terminal.screen).toContain('Nothing was changed.');
  });
});
