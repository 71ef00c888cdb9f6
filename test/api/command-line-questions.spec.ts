import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Interrupted, type Prompt, readSecret } from '../../src/cli/frame/prompt.js';
import type { Shell } from '../../src/cli/frame/shell.js';
import { jsonBy, printedBy } from '../support/orders.js';
import { openForAll } from '../support/opened.js';

// What a terminal and a pipe add is asked in test/processes/command-line-questions.spec.ts.

/** By its checksum a key, which no service has issued. */
const KEY = `pst_test_${'0'.repeat(30)}2Wj70T`;
const NOBODY = '00000000-0000-0000-0000-000000000000';

const service = await openForAll();

/** Runs a command of one line where nobody sits, unless the shell has a prompt. */
const command = (line: string, shell?: Partial<Shell>) => printedBy(service, line.split(' '), shell);

/** The same with --json, which has to succeed. */
const json = (line: string) => jsonBy(service, line.split(' '), {});

const makeClient = async (name: string): Promise<string> =>
  (await json(`client create --name ${name} --plan free`)).id;
const client = await makeClient('Acme');
const makeKey = async (): Promise<{ id: string; key: string }> => json(`key issue --client ${client}`);
const revokedAt = async (id: string): Promise<string | null> => (await json(`key show ${id}`)).revokedAt;

/** A person who gives these answers, one after the other; `asked` is what was asked, hidden answers marked. */
function person(...responses: readonly (string | undefined | Interrupted)[]) {
  const questions: string[] = [];
  const left = [...responses];
  const prompt: Prompt = (question, how = 'shown') => {
    questions.push(how === 'hidden' ? `(hidden) ${question}` : question);
    const response = left.shift();
    return response instanceof Interrupted ? Promise.reject(response) : Promise.resolve(response);
  };
  return { asked: questions, prompt };
}

/** A shell with this standard input, which is no terminal. */
const piped = (input: string): Partial<Shell> => ({
  readLine: (title) => readSecret(Readable.from([input]), title),
});

describe('an irreversible command without a terminal', () => {
  it('is refused with exit code 1 and changes nothing, until --yes is given', async () => {
    const id = await makeClient('Left');
    const key = await makeKey();
    for (const line of [
      `client delete ${id}`,
      `key revoke ${key.id}`,
      `key rotate ${key.id} --grace 0`,
      `key update ${key.id} --expires 1h`,
      'outbox discard 1',
    ])
      expect(await command(`${line} --json`), line).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^This command asks for confirmation.* --yes\..*Nothing was changed/),
      });
    expect((await json(`client show ${id}`)).name).toBe('Left');
    expect(await json(`key show ${key.id}`)).toMatchObject({ revokedAt: null, expiresAt: null });
    await json(`key revoke ${key.id} --yes`);
    await json(`client delete ${id} --yes`);
    expect((await command(`client show ${id}`)).code).toBe(1);
  });
});

describe('an irreversible command on a terminal', () => {
  it.each(['y', 'yes', ' YES '])('prompts with the name, and runs after "%s"', async (response) => {
    const id = await makeClient('Asked');
    const { asked: questions, prompt } = person(response);
    const { code, stdout } = await command(`client delete ${id} --json`, { prompt });
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ id })]);
    expect(questions).toEqual([`Delete the client ${id} (Asked) with all its keys permanently? [y/N] `]);
    expect((await command(`client show ${id}`)).code).toBe(1);
  });

  it.each([
    ['no', 'no', 1],
    ['an empty line', '', 1],
    ['what only begins like yes', 'yesterday', 1],
    ['the end of the input', undefined, 1],
    ['Ctrl-C', new Interrupted(), 130],
  ])('is left after %s', async (_, response, code) => {
    const { id } = await makeKey();
    const left = await command(`key revoke ${id}`, person(response));
    expect(left).toMatchObject({ code, stderr: expect.stringMatching(/Nothing was changed\.\n$/) });
    expect(await revokedAt(id)).toBeNull();
  });

  it('does not prompt with --yes, or if its object does not exist', async () => {
    const { id } = await makeKey();
    const { asked: questions, prompt } = person();
    expect(await command(`key revoke ${id} --yes`, { prompt })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Revoked the key/),
    });
    expect(await command(`client delete ${NOBODY}`, { prompt })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There is no client 0/),
    });
    expect(questions).toEqual([]);
  });
});

describe('a key from standard input', () => {
  it('is taken by every command on a key', async () => {
    const { id, key } = await makeKey();
    for (const [line, shown] of [
      ['key show - --json', { id }],
      ['key verify - --json', { wellFormed: true }],
      ['key update - --label Web --json', { label: 'Web' }],
      ['audit list --key - --action api_key.updated --json', [{ keyId: id }]],
      ['audit list --actor-key - --json', []],
      ['key revoke - --yes --json', { id, revokedAt: expect.any(String) }],
    ] as const) {
      const { code, stdout, stderr } = await command(line, piped(`${key}\n`));
      expect([code, stderr], line).toEqual([0, '']);
      expect(JSON.parse(stdout), line).toMatchObject(shown);
    }
    const successor = await makeKey();
    const rotated = await command('key rotate - --json', piped(successor.key));
    expect(JSON.parse(rotated.stdout)).toMatchObject({ clientId: client, key: expect.any(String) });
    const unbanned = await command('key unban - --json', piped(successor.key));
    expect(unbanned.stderr).not.toContain(successor.key);
  });

  it.each([
    ['nothing', '', /^Key: Standard input is empty\. Pass one line\.$/m],
    ['blanks', ' \n\n', /^Key: Standard input is empty/],
    ['several lines', `${KEY}\n${KEY}\n`, /^Key: Standard input has several lines\. Pass one line\.$/m],
    ['too much', 'x'.repeat(100_000), /^Key: Standard input is longer than 8192 bytes\./],
  ])('%s is refused with exit code 2', async (_, input, reason) => {
    expect(await command('key show -', piped(input))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(reason),
    });
  });

  it('is a URL with a password for db copy, and the password is not repeated', async () => {
    const url = piped('postgres:/pa55word@x');
    const { code, stderr } = await command('db copy --from data/a.sqlite --to -', url);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^--from: This must be sqlite:<file>.*\n--to: This must be postgres:/);
    expect(stderr).not.toContain('pa55word');
  });

  it('is no file of SQLite with a character that its path must not have, and db copy names it', async () => {
    const { code, stderr } = await command(
      'db copy --from sqlite:data/a#b.sqlite --to -',
      piped('sqlite:c?d'),
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /^--from: The path of an SQLite file must not contain #\.\n--to: This must be postgres:/,
      ),
    ]);
  });

  it('is prompted for without echo on a terminal', async () => {
    const { id, key } = await makeKey();
    const { asked: questions, prompt } = person(key, 'y');
    expect((await command('key revoke -', { prompt })).code).toBe(0);
    expect(questions).toEqual([
      '(hidden) Key: ',
      `Revoke the key ${id} (${key.slice(0, 13)}…) permanently? [y/N] `,
    ]);
    expect(await revokedAt(id)).not.toBeNull();
  });

  it.each([
    ['Ctrl-C', new Interrupted(), 130, /Nothing was changed/],
    ['the end of the input', undefined, 2, /Key: Standard input is empty/],
  ])('%s in place of it ends the command', async (_, response, code, output) => {
    expect(await command('key verify -', person(response))).toMatchObject({
      code,
      stderr: expect.stringMatching(output),
    });
  });
});
