import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OnTerminal } from '../support/on-terminal.js';
import { ROOT, emptyFolder, petstore } from '../support/service-process.js';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const PETSTORE = join(ROOT, 'bin/petstore.js');
/** By its checksum a key, which no service has issued. */
const KEY = `pst_test_${'0'.repeat(30)}2Wj70T`;

let folder: string;
let remove: () => Promise<void>;
let client: string;
beforeAll(async () => {
  ({ path: folder, remove } = await emptyFolder());
  await petstore(folder, ['db', 'migrate']);
  client = (await json('client', 'create', '--name', 'Acme', '--plan', 'free')).id;
});
afterAll(() => remove());

async function json(...args: string[]) {
  const { code, stdout, stderr } = await petstore(folder, [...args, '--json']);
  expect([code, stderr], args.join(' ')).toEqual([0, '']);
  return JSON.parse(stdout);
}

const makeClient = async (name: string): Promise<string> =>
  (await json('client', 'create', '--name', name, '--plan', 'free')).id;
const makeKey = async (): Promise<{ id: string; key: string }> => json('key', 'issue', '--client', client);
const revokedAt = async (id: string): Promise<string | null> => (await json('key', 'show', id)).revokedAt;

/** Gives the command one input through a pipe. */
async function piped(input: string, args: string) {
  const line = `printf '%s' "$INPUT" | '${process.execPath}' '${PETSTORE}' ${args}`;
  const run = promisify(execFile)('sh', ['-c', line], {
    cwd: folder,
    env: { ...process.env, INPUT: input },
  });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );
}

describe('what cannot be undone, where nobody can be asked', () => {
  it('is refused with exit code 1 and changes nothing, until --yes is given', async () => {
    const id = await makeClient('Left');
    const key = await makeKey();
    for (const args of [
      ['client', 'delete', id],
      ['key', 'revoke', key.id],
      ['key', 'rotate', key.id, '--grace', '0'],
      ['key', 'update', key.id, '--expires', '1h'],
      ['outbox', 'discard', '1'],
    ])
      expect(await petstore(folder, [...args, '--json']), args.join(' ')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^This cannot be undone.* --yes\..*Nothing was changed/),
      });
    expect((await json('client', 'show', id)).name).toBe('Left');
    expect(await json('key', 'show', key.id)).toMatchObject({ revokedAt: null, expiresAt: null });
    await json('key', 'revoke', key.id, '--yes');
    await json('client', 'delete', id, '--yes');
    expect((await petstore(folder, ['client', 'show', id])).code).toBe(1);
  });

  it('is refused before a database is made', async () => {
    const fresh = await emptyFolder();
    const { code, stderr } = await petstore(fresh.path, ['client', 'delete', client]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('--yes')]);
    expect(existsSync(join(fresh.path, 'data/petstore.sqlite'))).toBe(false);
    await fresh.remove();
  });

  it('needs no word where it can be undone', async () => {
    const { id } = await makeKey();
    expect(await json('key', 'update', id, '--label', 'Shop')).toMatchObject({ label: 'Shop' });
    expect(await json('key', 'rotate', id, '--grace', '1h')).toMatchObject({ key: expect.any(String) });
  });
});

describe('what cannot be undone, on a terminal', () => {
  it('is asked for by name, and done after yes; standard output is the result alone', async () => {
    const id = await makeClient('Asked');
    const terminal = OnTerminal.petstore(folder, `client delete ${id} --json > deleted.json`);
    await terminal.shows(`Delete the client ${id} (Asked) with all its keys, for good? [y/N] `);
    expect((await json('client', 'show', id)).name).toBe('Asked');
    terminal.type('yes\r');
    expect(await terminal.end()).toBe(0);
    expect(JSON.parse(await readFile(join(folder, 'deleted.json'), 'utf8'))).toMatchObject({ id });
    expect((await petstore(folder, ['client', 'show', id])).code).toBe(1);
  });

  it.each([
    ['no', 'no\r', 1],
    ['an empty line', '\r', 1],
    ['what only begins like yes', 'yesterday\r', 1],
    ['the end of the input', CTRL_D, 1],
    ['Ctrl-C', CTRL_C, 130],
    ['Ctrl-C behind a yes that was not sent', `yes${CTRL_C}`, 130],
  ])('is left after %s', async (_, keys, code) => {
    const { id } = await makeKey();
    const terminal = OnTerminal.petstore(folder, `key revoke ${id}`);
    await terminal.shows('? [y/N] ');
    terminal.type(keys);
    expect(await terminal.end()).toBe(code);
    expect(terminal.screen).toMatch(/Nothing was changed\.\r\n$/);
    expect(await revokedAt(id)).toBeNull();
  });

  it('is not asked with --yes, nor for what is not there', async () => {
    const { id } = await makeKey();
    const sure = OnTerminal.petstore(folder, `key revoke ${id} --yes`);
    expect(await sure.end()).toBe(0);
    expect(sure.screen).toMatch(/^Revoked the key/);
    const absent = OnTerminal.petstore(folder, 'client delete 00000000-0000-0000-0000-000000000000');
    expect(await absent.end()).toBe(1);
    expect(absent.screen).toMatch(/^There is no client 0/);
  });

  it('is refused when the question cannot be seen', async () => {
    const { id } = await makeKey();
    const terminal = OnTerminal.petstore(folder, `key revoke ${id} 2> told.txt`);
    expect(await terminal.end()).toBe(1);
    expect(await readFile(join(folder, 'told.txt'), 'utf8')).toContain('--yes');
    expect(await revokedAt(id)).toBeNull();
  });
});

describe('a key from standard input', () => {
  it('is taken by every command on a key', async () => {
    const { id, key } = await makeKey();
    for (const [args, shown] of [
      ['key show - --json', { id }],
      ['key verify - --json', { wellFormed: true }],
      ['key update - --label Web --json', { label: 'Web' }],
      ['key revoke - --yes --json', { id, revokedAt: expect.any(String) }],
    ] as const) {
      const { code, stdout, stderr } = await piped(`${key}\n`, args);
      expect([code, stderr], args).toEqual([0, '']);
      expect(JSON.parse(stdout), args).toMatchObject(shown);
    }
    const successor = await makeKey();
    const rotated = await piped(successor.key, 'key rotate - --json');
    expect(JSON.parse(rotated.stdout)).toMatchObject({ clientId: client, key: expect.any(String) });
    expect((await piped(successor.key, 'key unban - --json')).stderr).not.toContain(successor.key);
  });

  it.each([
    ['nothing', '', /^Key: Standard input is empty\. Give one line\.$/m],
    ['blanks', ' \n\n', /^Key: Standard input is empty/],
    ['several lines', `${KEY}\n${KEY}\n`, /^Key: Standard input has several lines\. Give one\.$/m],
    ['too much', 'x'.repeat(100_000), /^Key: Standard input is longer than 8192 bytes\./],
  ])('%s is refused with exit code 2', async (_, input, reason) => {
    expect(await piped(input, 'key show -')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(reason),
    });
  });

  it('is a URL with a password for db copy, and the password is not repeated', async () => {
    const { code, stderr } = await piped('postgres:/pa55word@x', 'db copy --from data/a.sqlite --to -');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^--from: This must be sqlite:<file>.*\n--to: This must be postgres:/);
    expect(stderr).not.toContain('pa55word');
  });

  it('is typed without echo on a terminal', async () => {
    const { id, key } = await makeKey();
    const terminal = OnTerminal.petstore(folder, 'key revoke -');
    await terminal.shows('Key: ');
    terminal.type(`${key}\r`);
    await terminal.shows(`End the key ${id} (${key.slice(0, 13)}…) at once, for good? [y/N] `);
    terminal.type('y\r');
    expect(await terminal.end()).toBe(0);
    expect(terminal.screen).not.toContain(key);
    expect(await revokedAt(id)).not.toBeNull();
  });

  it.each([
    ['Ctrl-C', CTRL_C, 130, /Nothing was changed/],
    ['the end of the input', CTRL_D, 2, /Key: Standard input is empty/],
  ])('%s on a terminal ends the command', async (_, keys, code, said) => {
    const terminal = OnTerminal.petstore(folder, 'key verify -');
    await terminal.shows('Key: ');
    terminal.type(keys);
    expect(await terminal.end()).toBe(code);
    expect(terminal.screen).toMatch(said);
  });
});

describe('demo data in production', () => {
  const NODE_ENV = 'production';
  const pets = async (): Promise<number> => (await json('db', 'seed', '--count', '1')).added;

  it('is added by a script that says --yes alone', async () => {
    const refused = await petstore(folder, ['db', 'seed', '--count', '2'], { NODE_ENV });
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('add --yes') });
    const { code, stdout } = await petstore(folder, ['db', 'seed', '--count', '1', '--yes'], { NODE_ENV });
    expect([code, stdout]).toEqual([0, `Added ${await pets()} rows of demo data.\n`]);
  });

  it('is asked for on a terminal, with the database', async () => {
    const terminal = OnTerminal.petstore(folder, 'db seed --count 1', { NODE_ENV });
    await terminal.shows('Add demo data to sqlite:data/petstore.sqlite, which is in production');
    terminal.type('n\r');
    expect(await terminal.end()).toBe(1);
    expect(terminal.screen).toContain('Nothing was changed.');
  });
});
