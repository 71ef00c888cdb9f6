import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Shell } from '../../src/cli/frame/shell.js';
import { petstoreProgram, runPetstore } from '../../src/cli/program.js';
import { type Printed, jsonBy, printedBy } from '../support/orders.js';
import { emptyFolder } from '../support/service-process.js';
import { ADMIN_DOCUMENT } from '../support/petstore-here.js';
import { openForAll } from '../support/opened.js';

// What a process adds (its exit, signals, a terminal, settings) is asked in test/processes.

const service = await openForAll();
const client = (await json('client', 'create', '--name', 'Acme', '--plan', 'free')).id;

/** Runs a command, a second after the one before: lists are in the order of creation. */
function command(...args: string[]): Promise<Printed> {
  service.clock.advance(1_000);
  return printedBy(service, args);
}

/** The same with --json, which has to succeed. */
function json(...args: string[]) {
  service.clock.advance(1_000);
  return jsonBy(service, args, {});
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

describe('petstore client', () => {
  it('list shows all, show shows one, for people and as JSON', async () => {
    await json('client', 'create', '--name', 'Zoo & Söhne', '--plan', 'business');
    expect((await json('client', 'list')).map(({ name }: { name: string }) => name)).toEqual([
      'Test',
      'Acme',
      'Zoo & Söhne',
    ]);
    expect(await json('client', 'show', client)).toMatchObject({ id: client, name: 'Acme' });
    const found = await json('client', 'list', '--name', 'zoo &');
    expect(found.map(({ name }: { name: string }) => name)).toEqual(['Zoo & Söhne']);
    expect((await command('client', 'list', '--name', 'nobody')).stdout).toBe('There are no entries.\n');
    expect((await command('client', 'list')).stdout).toMatch(
      /^ID +NAME +PLAN[^\n]*\n.*Test [^\n]*\n.*Acme +free +60 +1000/,
    );
    expect((await command('client', 'show', client)).stdout).toMatch(/^id +.+\nname +Acme\nplan +free\n/);
  });
});

it('keys are listed, shown, issued and changed with the name of their client', async () => {
  const { id, ...issued } = await json('key', 'issue', '--client', 'Acme', '--label', 'Till');
  expect(issued).toMatchObject({ clientId: client, clientName: 'Acme' });
  expect((await command('key', 'list', '--client', 'Acme')).stdout).toMatch(
    /^PREFIX +CLIENT NAME .* ID +CLIENT +REPLACED BY\n(?:.* Acme .*\n)+$/,
  );
  const { stdout } = await command('key', 'show', id);
  expect(stdout).toMatch(/^client name +Acme\n(?:.*\n)*client +\S{36}$/m);
  for (const change of [
    ['update', id, '--label', 'A'],
    ['rotate', id],
    ['unban', id],
    ['revoke', id, '--yes'],
  ])
    expect(await json('key', ...change)).toMatchObject({ clientName: 'Acme' });
});

it('a deleted client, which has no name any more, is erased by what the deletion printed', async () => {
  const { id } = await json('client', 'create', '--name', 'Erika', '--plan', 'free');
  const { stdout } = await command('client', 'delete', 'Erika', '--yes');
  expect(stdout).toContain(`petstore client erase ${id}`);
  expect((await command('client', 'erase', id, '--yes')).code).toBe(0);
});

it('a client is deleted and erased by one command', async () => {
  const { id } = await json('client', 'create', '--name', 'Erika', '--plan', 'free');
  const { stdout } = await command('client', 'delete', 'Erika', '--erase', '--yes');
  expect(stdout).toBe(`Deleted the client ${id} and its keys, and erased its names from the audit trail.\n`);
  expect(JSON.stringify(await json('audit', 'list', '--client', id))).not.toContain('Erika');
});

it('a list that ends early says on a terminal how many entries there are', async () => {
  const printed = async (shell: Partial<Shell>) =>
    (await printedBy(service, ['client', 'list', '--limit', '1'], shell)).stdout.trimEnd().split('\n').at(-1);
  const total = (await json('client', 'list')).length;
  expect(total).toBeGreaterThan(1);
  const screen = { columns: 80, isColored: false };
  expect(await printed({ screen })).toBe(`(1 of ${total}; --limit shows more)`);
  expect(await printed({})).toMatch(/ Test /);
});

it('a group that shows one thing shows it without a further word', async () => {
  const [shown, named] = [await json('overview'), await json('overview', 'show')];
  expect(shown).toEqual(named);
  expect((await command('overview')).stdout).toMatch(/^clients +\d+\n/);
  expect((await command('overview', 'shwo')).code).toBe(2);
});

describe('petstore key', () => {
  it('issue prints the key only once', async () => {
    const { key, prefix } = await json('key', 'issue', '--client', client);
    expect([key, prefix]).toEqual([expect.stringMatching(/^pst_test_\w{36}$/), key.slice(0, 13)]);
    expect((await command('key', 'list')).stdout).not.toContain(key);
    expect(JSON.stringify(await json('key', 'list'))).not.toContain(key);
  });

  it('unban of a key that is not banned claims no ban that it lifted', async () => {
    const { id, prefix } = await json('key', 'issue', '--client', client);
    const { code, stdout } = await command('key', 'unban', id);
    const done = `The key ${id} (${prefix}…) is no longer banned, and its strikes are reset.\n`;
    expect([code, stdout]).toEqual([0, done]);
  });
});

describe('petstore db', () => {
  it('seed adds the demo data of every feature, or the requested number of rows of each', async () => {
    const once = await service.seed();
    expect(await json('db', 'seed')).toEqual({ added: once });
    expect((await json('db', 'seed', '--count', '250')).added % 250).toBe(0);
    expect((await command('db', 'seed')).stdout).toBe(`Added ${once} rows of demo data.\n`);
  });
});

describe('petstore openapi', () => {
  it('writes the document to standard output or to a file', async () => {
    const document = `${JSON.stringify(service.document, null, 2)}\n`;
    expect((await command('openapi')).stdout).toBe(document);
    const { path, remove } = await emptyFolder();
    await command('openapi', '--out', join(path, 'o.json'));
    expect(await readFile(join(path, 'o.json'), 'utf8')).toBe(document);
    await remove();
  });
});

describe('a call that is refused exits 1 and says why on stderr', () => {
  it.each([
    ['an unknown client', ['client', 'show', NOBODY], /There is no client 0{8}/],
    ['a key for nobody', ['key', 'issue', '--client', NOBODY], /There is no client/],
    ['changes of nobody', ['audit', 'list', '--client', 'nobody'], /There is no client nobody/],
    ['an unknown key', ['key', 'revoke', NOBODY, '--yes'], /There is no key/],
    ['a file that cannot be written', ['openapi', '--out', '/dev/null/x.json'], /Failed: .*\/dev\/null/],
  ])('%s', async (_, args, reason) => {
    const { code, stdout, stderr } = await command(...args, '--json');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(reason);
  });
});

describe('what people have at hand', () => {
  it('names a client by its name, and a key by its beginning as lists show it', async () => {
    const { id } = await json('client', 'create', '--name', 'my shop', '--plan', 'free');
    const { id: keyId, key } = await json('key', 'issue', '--client', 'my shop', '--label', 'Web');
    expect(await json('client', 'show', 'my shop')).toMatchObject({ id });
    expect(await json('key', 'list', '--client', 'my shop')).toMatchObject([{ id: keyId }]);
    for (const named of [key, key.slice(0, 13), `${key.slice(0, 13)}…`])
      expect(await json('key', 'show', named)).toMatchObject({ id: keyId, label: 'Web' });
    expect(await json('audit', 'list', '--client', 'my shop', '--key', key.slice(0, 13))).toHaveLength(1);
    expect(await json('audit', 'list', '--actor-key', key.slice(0, 13))).toEqual([]);
    const renamed = await json('client', 'rename', 'my shop', '--name', 'My other shop');
    expect(renamed).toMatchObject({ id, name: 'My other shop' });
  });

  it('is refused where several have it, or none', async () => {
    for (const _ of [1, 2]) await json('client', 'create', '--name', 'Twice', '--plan', 'free');
    const twice = await command('client', 'delete', 'Twice', '--yes');
    expect([twice.code, twice.stderr]).toEqual([
      1,
      expect.stringMatching(/^2 clients are called Twice\. Give the id/),
    ]);
    expect((await command('client', 'show', 'twic')).stderr).toMatch(/^There is no client twic\./);
    const absent = await command('key', 'revoke', 'pst_test_0000', '--yes');
    expect([absent.code, absent.stderr]).toEqual([
      1,
      expect.stringMatching(/^There is no key that begins with pst_test_0000\. Use the first characters/),
    ]);
    const partial = await command('key', 'show', 'pst_test_0000000');
    expect(partial.stderr).toMatch(/^There is no key that begins with pst_test_0000\./);
    const mistyped = await command('key', 'show', `pst_test_${'0'.repeat(36)}`);
    expect(mistyped.stderr).toMatch(/^This is not a key\. (?!.*pst_test_0000)/);
    expect((await command('key', 'show', 'abc123')).stderr).toMatch(/cannot be found by its last characters/);
  });

  it('creates a client and its first key in one command, or neither', async () => {
    const CREATE = ['client', 'create', '--plan', 'pro', '--name', 'Ops', '--issue-key', '--scopes'];
    const { id, key } = await json(...CREATE, 'admin,pets:read');
    expect(key).toMatchObject({
      clientId: id,
      key: expect.stringMatching(/^pst_/),
      scopes: ['admin', 'pets:read'],
    });
    expect((await command('client', 'create', '--plan', 'pro', '--name', 'A', '--issue-key')).stdout).toMatch(
      /^id +[^]*shown only once:\n\npst_test_\w{36}\n$/,
    );
    const refused = await command(...CREATE, 'pets:fly');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/^--scopes: There is no scope/),
    ]);
    expect(await json('client', 'list', '--name', 'Ops')).toHaveLength(1);
  });
});

describe('an invalid call exits 2', () => {
  it.each([
    ['no command', []],
    ['an unknown command', ['cat']],
    [
      'a number below zero',
      ['client', 'create', '--name', 'A', '--plan', 'enterprise', '--per-minute', '-1', '--per-day', '1'],
    ],
    ['an empty argument that may be left out, which is not all', ['outbox', 'retry', ' ']],
  ])('%s', async (_, args) => {
    const { code, stdout, stderr } = await command(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/\w/);
  });
});

describe('a call with several wrong values reports all of them at once', () => {
  it.each([
    ['missing options', ['client', 'create'], ['--plan: ', '--name: ']],
    [
      'missing and wrong options',
      ['client', 'create', '--plan', 'gold', '--per-day', 'x'],
      [
        '--plan: This must be one of free, pro, business, enterprise.',
        '--per-day: This must be an integer.',
        '--name: ',
      ],
    ],
    [
      'a missing option and wrong ones',
      ['key', 'issue', '--scopes', ',', '--expires', 'soon'],
      ['--client: ', '--scopes: This must be a list', '--expires: This must be a duration such as 90d'],
    ],
    [
      'both URLs',
      ['db', 'copy', '--from', 'a.sqlite', '--to', 'b'],
      ['--from: This must be sqlite:', '--to: This must be postgres:'],
    ],
  ])('%s', async (_, args, messages) => {
    const { code, stdout, stderr } = await command(...args);
    expect([code, stdout]).toEqual([2, '']);
    for (const text of messages) expect(stderr.split(text), text).toHaveLength(2);
    expect(stderr.trimEnd().split('\n')).toHaveLength(messages.length);
  });
});

describe('a likely mistake is reported with the usage of the command', () => {
  it.each([
    ['a missing argument', ['client', 'rename'], "missing required argument 'client'"],
    ['an unknown option', ['client', 'create', '--nam', 'A'], "unknown option '--nam'"],
    ['an empty argument', ['key', 'rotate', ''], "invalid for argument 'key'. It is empty."],
    [
      'an option that is given twice, of which the last would count',
      ['key', 'rotate', 'x', '--grace', '1h', '--grace=0'],
      "option '--grace <grace>' argument '0' is invalid. It is given twice.",
    ],
  ])('%s', async (_, args, messages) => {
    const { code, stdout, stderr } = await command(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(messages);
    expect(stderr).toMatch(/\n\((?:options: .*; )?--help shows how to call it\)\n$/);
  });
});

describe('--help', () => {
  const shell: Shell = {
    operations: ADMIN_DOCUMENT,
    openApp: () => Promise.reject(new Error('help needs no application')),
    loadModules: () => Promise.reject(new Error('help needs no module')),
    write: () => Promise.resolve(undefined),
    writeError: () => undefined,
  };
  const leaves = (program: Command): Command[] =>
    program.commands.length === 0 ? [program] : program.commands.flatMap(leaves);
  const pathOf = (one: Command): string => (one.parent ? `${pathOf(one.parent)} ${one.name()}` : one.name());
  const commands = leaves(petstoreProgram(shell)).map((one) => [pathOf(one), one] as const);

  it('covers every command', () => {
    expect(commands.length).toBeGreaterThan(20);
  });

  it('gives each group its own description', () => {
    const descriptions = petstoreProgram(shell).commands.map((one) => one.description());
    expect(descriptions.toSorted()).toEqual([...new Set(descriptions)].toSorted());
  });

  it.each(commands)(
    'of %s is enough to use it: what it does, every argument and option, an example',
    async (path, one) => {
      let help = '';
      const args = [...path.split(' ').slice(1), '--help'];
      expect(await runPetstore(args, { ...shell, write: async (text) => void (help += text) })).toBe(0);
      expect(help).toContain(`Usage: ${path}`);
      expect(one.description()).toMatch(/^\w.{10,}/);
      for (const { flags, description } of one.options) {
        expect(help).toContain(flags);
        expect(description, flags).toMatch(/^\w.{8,}/);
      }
      const shown = [...help.matchAll(/^ {2}petstore (.+)$/gm)].map(([, call = '']) => call);
      expect(shown.length).toBeGreaterThan(0);
      // Every example parses: what it is refused for is the application that is not there.
      for (const call of shown) {
        const parts = [...call.replace(/ < .*/, '').matchAll(/'([^']*)'|(\S+)/g)].map(
          ([, quoted, plain]) => quoted ?? plain ?? '',
        );
        let complaint = '';
        if (
          parts.includes('verify') ||
          ['db', 'doctor', 'new', 'generate', 'completion'].includes(parts[0] ?? '')
        )
          continue;
        const code = await runPetstore(
          parts.map((word) => word.replace(/<id>/, NOBODY)),
          {
            ...shell,
            writeError: (text) => (complaint += text),
            prompt: () => Promise.resolve('yes'),
            readLine: () => Promise.resolve(NOBODY),
          },
        );
        expect([code, complaint], call).toEqual([1, 'Failed: help needs no application\n']);
      }
    },
  );
});

describe('petstore key verify', () => {
  it.each([
    [
      `pst_test_${'0'.repeat(30)}2Wj70T`,
      0,
      /^This has the format and checksum of a test key, pst_test_0000…/,
    ],
    [`pst_test_${'0'.repeat(30)}2Wj70S`, 1, /checksum is wrong/],
    ['sk_live_abc', 1, /It has 11 characters; a key has 44/],
    ['', 2, /argument 'string'. It is empty/],
  ])('%s exits %i', async (text, code, parts) => {
    const finished = await command('key', 'verify', text);
    expect(finished.code).toBe(code);
    expect(code === 0 ? finished.stdout : finished.stderr).toMatch(parts);
    expect(code === 0 ? finished.stderr : finished.stdout).toBe('');
  });
});
