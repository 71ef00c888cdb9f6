import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/clients/scopes.js';
import '../../src/app.module.js';
import type { Shell } from '../../src/cli/shell.js';
import { petstoreProgram, runPetstore } from '../../src/cli/program.js';
import { openDataSource } from '../../src/database/data-source.js';
import { DemoData } from '../../src/database/demo-data.js';
import { TestService } from '../kit/testing.js';
import { type Finished, ROOT, ServiceProcess, emptyFolder, petstore } from '../support/service-process.js';

// What the modules of the service declare is there once they are imported.

let folder: { path: string; remove(): Promise<void> };
let client: string;
beforeAll(async () => {
  folder = await emptyFolder();
  await command('db', 'migrate');
  client = (await json('client', 'create', '--name', 'Acme', '--plan', 'free')).id;
});
afterAll(() => folder.remove());

const command = (...args: string[]): Promise<Finished> => petstore(folder.path, args);

/** Runs a command with --json, expects success and answers the one document on stdout. */
async function json(...args: string[]) {
  const { code, stdout, stderr } = await command(...args, '--json');
  expect([code, stderr], args.join(' ')).toEqual([0, '']);
  return JSON.parse(stdout);
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

it('petstore --version answers that of package.json', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const flag of ['--version', '-V'])
    expect(await command(flag)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

describe('petstore client', () => {
  it('create answers the client', async () => {
    expect(await json('client', 'create', '--name', 'Zoo & Söhne', '--plan', 'business')).toEqual({
      id: expect.stringMatching(/^[\w-]{36}$/),
      name: 'Zoo & Söhne',
      plan: 'business',
      perMinute: 1_000,
      perDay: 100_000,
      createdAt: expect.stringMatching(/Z$/),
      suspendedAt: null,
    });
  });

  it('create takes an enterprise client’s own numbers', async () => {
    const made = await json(
      'client',
      'create',
      '--name',
      'Big',
      '--plan',
      'enterprise',
      '--per-minute',
      '5000',
      '--per-day',
      '900000',
    );
    expect(made).toMatchObject({ plan: 'enterprise', perMinute: 5_000, perDay: 900_000 });
  });

  it('list shows all, show shows one, for people and as JSON', async () => {
    expect((await json('client', 'list')).map(({ name }: { name: string }) => name)).toEqual([
      'Acme',
      'Zoo & Söhne',
      'Big',
    ]);
    expect(await json('client', 'show', client)).toMatchObject({ id: client, name: 'Acme' });
    const found = await json('client', 'list', '--name', 'zoo &');
    expect(found.map(({ name }: { name: string }) => name)).toEqual(['Zoo & Söhne']);
    expect((await command('client', 'list', '--name', 'nobody')).stdout).toContain('no such client');
    expect((await command('client', 'list')).stdout).toMatch(/^ID +NAME +PLAN[^\n]*\n.*Acme +free +60 +1000/);
    expect((await command('client', 'show', client)).stdout).toMatch(/^id +.+\nname +Acme\nplan +free\n/);
  });

  it('set-plan moves a client', async () => {
    expect(await json('client', 'set-plan', client, '--plan', 'pro')).toMatchObject({
      id: client,
      plan: 'pro',
      perMinute: 300,
    });
    expect((await json('client', 'show', client)).plan).toBe('pro');
  });
});

describe('petstore key', () => {
  it('issue answers the key this once, with the scopes asked for and an expiry', async () => {
    const issued = await json(
      'key',
      'issue',
      '--client',
      client,
      '--scopes',
      'pets:write,pets:read',
      '--expires',
      '90d',
    );
    expect(issued).toEqual({
      id: expect.stringMatching(/^[\w-]{36}$/),
      key: expect.stringMatching(/^pst_test_\w{36}$/),
      clientId: client,
      prefix: issued.key.slice(0, 13),
      label: null,
      scopes: ['pets:read', 'pets:write'],
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    });
    expect(Date.parse(issued.expiresAt) - Date.parse(issued.createdAt)).toBe(90 * 86_400_000);
    expect((await command('key', 'list')).stdout).not.toContain(issued.key);
    expect(JSON.stringify(await json('key', 'list'))).not.toContain(issued.key);
  });

  it('unban of a key that is not banned claims no ban that it lifted', async () => {
    const { id } = await json('key', 'issue', '--client', client);
    const { code, stdout } = await command('key', 'unban', id);
    expect([code, stdout]).toEqual([0, `The key ${id} is not banned, and its strikes are forgotten.\n`]);
  });

  it('works on the running service from the moment it is issued until the moment it is revoked', async () => {
    const service = await ServiceProcess.start(folder.path);
    const { id, key } = await json('key', 'issue', '--client', client);
    const status = async () =>
      (await fetch(`${service.url}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await status()).toBe(200);
    expect(await json('key', 'revoke', id, '--yes')).toMatchObject({ id, revokedAt: expect.any(String) });
    expect(await status()).toBe(401);
    await service.stop();
  });

  it('list can be narrowed to one client', async () => {
    const { id } = await json('client', 'create', '--name', 'Lonely', '--plan', 'free');
    expect(await json('key', 'list', '--client', id)).toEqual([]);
    await command('key', 'issue', '--client', id);
    expect(await json('key', 'list', '--client', id)).toHaveLength(1);
  });
});

describe('petstore db', () => {
  it('status tells what is pending and changes nothing; migrate applies it', async () => {
    const fresh = await emptyFolder();
    const run = async (...args: string[]) =>
      JSON.parse((await petstore(fresh.path, [...args, '--json'])).stdout) as unknown;
    const declared = await openDataSource({ databaseUrl: 'sqlite::memory:' });
    const names = declared.migrations
      .map(({ constructor }) => constructor.name)
      .toSorted((a, b) => Number(a.slice(-13)) - Number(b.slice(-13)));
    await declared.destroy();
    expect(names.length).toBeGreaterThan(8);
    const NOTHING = { applied: [], pending: [], unknown: [], expansions: [] };
    expect(await run('db', 'status')).toEqual({ ...NOTHING, pending: names });
    expect(await run('db', 'status')).toEqual({ ...NOTHING, pending: names });
    expect(await run('db', 'migrate')).toEqual({ applied: names });
    expect(await run('db', 'migrate')).toEqual({ applied: [] });
    expect(await run('db', 'status')).toEqual({ ...NOTHING, applied: names });
    await fresh.remove();
  });

  it('seed adds the demo set of every feature, or as many rows of each as asked for', async () => {
    const service = await TestService.open();
    const demoData = service.app.get(DemoData);
    const told: [number, number][] = [];
    const once = await demoData.add();
    const many = await demoData.add(2_500, (added, of) => told.push([added, of]));
    expect(told.at(-1)).toEqual([many, many]);
    expect(told.map(([added]) => added)).toEqual(told.map(([added]) => added).toSorted((a, b) => a - b));
    await service.close();
    expect([once > 0, many % 2_500]).toEqual([true, 0]);
    expect(await json('db', 'seed')).toEqual({ added: once });
    expect(await json('db', 'seed', '--count', '2500')).toEqual({ added: many });
    expect((await command('db', 'seed')).stdout).toBe(`Added ${once} rows of demo data.\n`);
  });
});

describe('petstore openapi', () => {
  it('writes the document to standard output or to a file', async () => {
    const kept = await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    expect((await command('openapi')).stdout).toBe(kept);
    await command('openapi', '--out', 'o.json');
    expect(await readFile(join(folder.path, 'o.json'), 'utf8')).toBe(kept);
  });
});

describe('a value that an option does not take exits 2 and says why on stderr', () => {
  it.each([
    [
      'an enterprise plan without numbers',
      ['client', 'create', '--name', 'E', '--plan', 'enterprise'],
      /needs its own limits/,
    ],
    [
      'numbers on a fixed plan',
      ['client', 'create', '--name', 'E', '--plan', 'free', '--per-day', '5'],
      /only enterprise takes its own/,
    ],
    [
      'a limit too large',
      [
        'client',
        'create',
        '--name',
        'E',
        '--plan',
        'enterprise',
        '--per-minute',
        '1',
        '--per-day',
        '1000000001',
      ],
      /from 1 to 1000000000/,
    ],
    ['a blank name', ['client', 'create', '--name', '  ', '--plan', 'free'], /^--name: This must hold/],
  ])('%s', async (_, args, reason) => {
    const { code, stdout, stderr } = await command(...args, '--json');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(reason);
  });
});

describe('a call that is refused exits 1 and says why on stderr', () => {
  it.each([
    ['an unknown client', ['client', 'show', NOBODY], /There is no client 0{8}/],
    ['an unknown client’s plan', ['client', 'set-plan', NOBODY, '--plan', 'pro'], /There is no client/],
    ['a key for nobody', ['key', 'issue', '--client', NOBODY], /There is no client/],
    ['the keys of nobody', ['key', 'list', '--client', NOBODY], /There is no client/],
    ['an unknown key', ['key', 'revoke', NOBODY, '--yes'], /There is no key/],
    ['a file that cannot be written', ['openapi', '--out', '/dev/null/x.json'], /Failed: .*\/dev\/null/],
  ])('%s', async (_, args, reason) => {
    const { code, stdout, stderr } = await command(...args, '--json');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(reason);
  });

  it('an unknown scope, and a key revoked already', async () => {
    expect((await command('key', 'issue', '--client', client, '--scopes', 'pets:fly')).stderr).toContain(
      `--scopes: There is no scope "pets:fly"; there are ${declaredScopes()
        .map(({ name }) => name)
        .join(', ')}.`,
    );
    const { id } = await json('key', 'issue', '--client', client);
    await command('key', 'revoke', id, '--yes');
    const again = await command('key', 'revoke', id, '--yes');
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/was revoked at/)]);
  });

  it('wrong settings', async () => {
    const { code, stderr } = await petstore(folder.path, ['client', 'list'], { PORT: 'x' });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/PORT: "x" is not allowed/)]);
  });
});

it('takes ids in upper case, too', async () => {
  const { id: owner } = await json('client', 'create', '--name', 'Loud', '--plan', 'free');
  const loud = String(owner).toUpperCase();
  const { id: key } = await json('key', 'issue', '--client', loud);
  expect(await json('client', 'show', loud)).toMatchObject({ id: owner });
  expect(await json('key', 'show', String(key).toUpperCase())).toMatchObject({ clientId: owner });
  expect(await json('key', 'list', '--client', loud)).toMatchObject([{ id: key }]);
  expect(await json('audit', 'list', '--client', loud)).toHaveLength(2);
});

describe('a call that is none exits 2', () => {
  it.each([
    ['no command', []],
    ['an unknown command', ['cat']],
    ['an unknown subcommand', ['client', 'feed']],
    ['a missing option', ['client', 'create', '--plan', 'free']],
    ['an unknown option', ['client', 'list', '--loud']],
    ['an unknown plan', ['client', 'create', '--name', 'A', '--plan', 'gold']],
    [
      'a number that is none',
      ['client', 'create', '--name', 'A', '--plan', 'enterprise', '--per-minute', '-1', '--per-day', '1'],
    ],
    ['a duration that is none', ['key', 'issue', '--client', 'x', '--expires', 'soon']],
    ['too long a duration', ['key', 'issue', '--client', 'x', '--expires', '99999d']],
    ['a missing argument', ['client', 'show']],
    ['a count of nothing', ['db', 'seed', '--count', '0']],
    ['an empty argument', ['client', 'show', '']],
    ['an empty argument that may be left out, which is not all', ['outbox', 'retry', ' ']],
    ['a filter that is no id', ['audit', 'list', '--client', 'acme']],
  ])('%s', async (_, args) => {
    const { code, stdout, stderr } = await command(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/\w/);
  });
});

describe('a call with several faults tells of all of them at once', () => {
  it.each([
    [
      'missing options',
      ['client', 'create'],
      ["required option '--plan <plan>' not specified", "required option '--name <name>' not specified"],
    ],
    [
      'missing and wrong options',
      ['client', 'create', '--plan', 'gold', '--per-day', 'x'],
      [
        "'gold' is invalid. Allowed choices are free, pro, business, enterprise.",
        "'x' is invalid. Give a whole number of at least 1.",
        "required option '--name <name>' not specified",
      ],
    ],
    [
      'a missing argument and a missing option',
      ['client', 'rename'],
      ["missing required argument 'id'", "required option '--name <name>' not specified"],
    ],
    [
      'an unknown option, a wrong one and a missing one',
      ['client', 'create', '--nam', 'A', '--per-day', 'x', '--plan', 'pro'],
      ["unknown option '--nam'", "'x' is invalid.", "required option '--name <name>' not specified"],
    ],
    [
      'a missing option and a value that the service does not take',
      ['client', 'create', '--name', '  '],
      ["required option '--plan <plan>' not specified", '--name: This must hold'],
    ],
    [
      'an empty argument and options that are given twice, of which the last would count',
      [
        'key',
        'rotate',
        '',
        '--grace',
        '1h',
        '--grace',
        '0',
        '--expires',
        '1d',
        '--expires',
        '2d',
        '--expires=3d',
      ],
      [
        "argument 'id' is empty",
        "option '--grace <duration>' is given 2 times",
        "option '--expires <duration>' is given 3 times",
      ],
    ],
    [
      'both URLs',
      ['db', 'copy', '--from', 'a.sqlite', '--to', 'b'],
      ['--from: This must be sqlite:', '--to: This must be postgres:'],
    ],
  ])('%s', async (_, args, told) => {
    const { code, stdout, stderr } = await command(...args);
    expect([code, stdout]).toEqual([2, '']);
    for (const text of told) expect(stderr.split(text), text).toHaveLength(2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith('('))).toHaveLength(told.length);
  });
});

describe('--help', () => {
  const shell: Shell = {
    withApp: () => Promise.reject(new Error('help needs no application')),
    loadModules: () => Promise.reject(new Error('help needs no module')),
    write: () => undefined,
    writeError: () => undefined,
  };
  const leaves = (program: Command): Command[] =>
    program.commands.length === 0 ? [program] : program.commands.flatMap(leaves);
  const pathOf = (one: Command): string => (one.parent ? `${pathOf(one.parent)} ${one.name()}` : one.name());
  const commands = leaves(petstoreProgram(shell)).map((one) => [pathOf(one), one] as const);

  it('covers every command', () => {
    expect(commands.length).toBeGreaterThan(20);
  });

  it.each(commands)(
    'of %s is enough to use it: what it does, every argument and option, an example',
    async (path, one) => {
      let help = '';
      const args = [...path.split(' ').slice(1), '--help'];
      expect(await runPetstore(args, { ...shell, write: (text) => (help += text) })).toBe(0);
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
        const words = [...call.replace(/ < .*/, '').matchAll(/'([^']*)'|(\S+)/g)].map(
          ([, quoted, plain]) => quoted ?? plain ?? '',
        );
        let complaint = '';
        if (words.includes('verify') || ['db', 'doctor', 'generate', 'completion'].includes(words[0] ?? ''))
          continue;
        const code = await runPetstore(
          words.map((word) => word.replace(/<id>/, NOBODY)),
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

  it('of the command itself exits 0', async () => {
    const { code, stdout } = await command('--help');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Usage: petstore/)]);
  });
});

describe('petstore key verify', () => {
  it.each([
    [
      `pst_test_${'0'.repeat(30)}2Wj70T`,
      0,
      /^This has the shape and the checksum of a test key, pst_test_0000…/,
    ],
    [`pst_test_${'0'.repeat(30)}2Wj70S`, 1, /checksum is wrong/],
    [`pst_test_${'0'.repeat(30)}2Wj70`, 1, /It has 44 characters; a key has 45/],
    [`pst_test_${'0'.repeat(30)}2Wj7-T`, 1, /neither an ASCII letter nor a digit/],
    ['sk_live_abc', 1, /does not begin with pst_live_ or pst_test_/],
    ['', 2, /argument 'string' is empty/],
  ])('%s exits %i', async (text, code, words) => {
    const finished = await command('key', 'verify', text);
    expect(finished.code).toBe(code);
    expect(code === 0 ? finished.stdout : finished.stderr).toMatch(words);
    expect(code === 0 ? finished.stderr : finished.stdout).toBe('');
  });

  it('answers JSON to what is no key too', async () => {
    const { code, stdout } = await command('key', 'verify', 'sk_live_abc', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      wellFormed: false,
      reason: expect.stringMatching(/does not begin/),
    });
  });

  it('answers JSON, and needs neither settings nor a database', async () => {
    const fresh = await emptyFolder();
    const args = ['key', 'verify', `pst_test_${'0'.repeat(30)}2Wj70T`, '--json'];
    const { stdout } = await petstore(fresh.path, args, { PORT: 'nonsense' });
    expect(JSON.parse(stdout)).toEqual({ wellFormed: true, environment: 'test', prefix: 'pst_test_0000' });
    expect(await readdir(fresh.path)).toEqual([]);
    await fresh.remove();
  });
});
