import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import '../../src/root.module.js';
import { widthOf } from '../../src/cli/frame/table.js';
import { openDataSource } from '../../src/database/data-source.js';
import { OnTerminal } from '../support/on-terminal.js';
import { petstoreHere } from '../support/petstore-here.js';
import { BARE_ENVIRONMENT, emptyFolder, folderOfTest, SERVICE } from '../support/service-process.js';

const CLIENTS = 5_000;
const PETSTORE = `'${process.execPath}' '${join(SERVICE, 'bin/petstore.js')}'`;

let folder: string;
beforeAll(async () => {
  const { path, remove } = await emptyFolder();
  folder = path;
  const created = await petstoreHere(folder, [
    'client',
    'create',
    '--name',
    '日本の店 Zoë',
    '--plan',
    'free',
  ]);
  expect(created.code).toBe(0);
  const database = await openDataSource({ databaseUrl: `sqlite:${join(folder, 'data/petstore.sqlite')}` });
  const upTo = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${CLIENTS})`;
  await database.query(
    `${upTo} INSERT INTO clients (id, name, plan, created_at)
     SELECT printf('%08x-0000-4000-8000-000000000000', i), 'Client ' || i, 'pro', created_at
     FROM n, (SELECT created_at FROM clients LIMIT 1)`,
  );
  const columns = 'at, action, client_id, key_id, actor, actor_key_id, origin, request_id, details';
  await database.query(
    `${upTo} INSERT INTO audit_entries (${columns}) SELECT ${columns} FROM n, (SELECT * FROM audit_entries LIMIT 1)`,
  );
  await database.destroy();
  return remove;
});

/** Runs a line of bash, in which `petstore` is the command; returns the exit code of each part of its last pipe. */
async function bash(line: string) {
  const whole = `petstore() { ${PETSTORE} "$@"; }; ${line}; echo "codes: \${PIPESTATUS[@]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', whole], {
    cwd: folder,
    env: BARE_ENVIRONMENT,
    maxBuffer: 100_000_000,
  });
  const [, out = '', codes] = /^([^]*)codes: (.+)\n$/.exec(stdout) ?? [];
  return { out, codes, stderr };
}

describe('output that is read no further', () => {
  it.each(['client list', 'audit list --limit 4000 --json', 'openapi'])(
    '%s | head ends quietly with exit code 0',
    async (call) => {
      const { out, codes, stderr } = await bash(`petstore ${call} | head -n 1`);
      expect([codes, stderr]).toEqual(['0 0', '']);
      expect(out.split('\n')).toHaveLength(2);
    },
  );

  it('is whole where it is read', async () => {
    const { out } = await bash('petstore client list | cat');
    expect(out.split('\n')).toHaveLength(1 + CLIENTS + 1 + 1);
  });

  it('leaves what was changed changed, and says so', async () => {
    const { codes, stderr } = await bash(`petstore client create --name Unread --plan free | true`);
    expect(codes).toBe('0 0');
    expect(stderr).toMatch(/^The result was not read\. Completed changes remain/);
    expect((await petstoreHere(folder, ['client', 'list', '--name', 'Unread'])).stdout).toContain('Unread');
  });

  it.skipIf(!existsSync('/dev/full'))('is a failure where the disk is full, which is said', async () => {
    const read = await bash('petstore client list > /dev/full');
    expect(read.codes).toBe('1');
    expect(read.stderr).toMatch(/^The output could not be written: ENOSPC/);
    const changed = await bash('petstore client create --name Full --plan free --json > /dev/full');
    expect(changed.codes).toBe('1');
    expect(changed.stderr).toContain('Completed changes remain');
    expect((await petstoreHere(folder, ['client', 'list', '--name', 'Full'])).stdout).toContain('Full');
  });
});

describe('lists on a terminal', () => {
  const list = async (options: string, columns: number, environment: NodeJS.ProcessEnv = {}) => {
    const terminal = OnTerminal.petstore(folder, `client list --name Zo ${options}`, environment, columns);
    expect(await terminal.end()).toBe(0);
    return terminal.screen.replaceAll('\r', '').trimEnd().split('\n');
  };

  it.each([60, 120])('fit %i columns, with short times', async (columns) => {
    const lines = await list('', columns, { NO_COLOR: '1' });
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    if (columns === 120) expect(lines[1]).toMatch(/日本の店 Zoë +free +60 +1000 +\d+ (s|min) ago +-$/);
    else expect(lines.at(-1)).toMatch(/^\(--wide shows .*CREATED/);
  });

  it('fit 80 columns on a terminal that does not know its width', async () => {
    const lines = await list('', 0, { NO_COLOR: '1' });
    expect(lines[0]).toMatch(/^ID +NAME +PLAN/);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80);
  });

  it('are whole and exact with --wide, and where standard output is no terminal', async () => {
    const exact = /日本の店 Zoë  free +60 +1000 +\d{4}-\d\d-\d\dT[\d:.]+Z  -$/;
    expect((await list('--wide', 40, { TERM: 'dumb' }))[1]).toMatch(exact);
    expect(await list('> list.txt', 40)).toEqual(['']);
    const written = await readFile(join(folder, 'list.txt'), 'utf8');
    expect(written.trimEnd().split('\n')[1]).toMatch(exact);
  });

  it('have colours, unless NO_COLOR or TERM=dumb is set', async () => {
    const [heading = ''] = await list('', 120);
    expect(heading.startsWith('\u001B[1mID')).toBe(true);
    for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      expect((await list('', 120, environment)).join('')).not.toContain('\u001B');
  });
});

describe('a database that is not there', () => {
  const ABSENT = /^There is no database \S+\/data\/petstore\.sqlite. Start the service or run/;
  it.each([
    ['client list', 0, ABSENT],
    ['client show x', 1, ABSENT],
    ['key revoke x --yes', 1, ABSENT],
    ['db status', 0, ABSENT],
    ['openapi', 0, /^$/],
  ])('is not made by %s', async (call, code, message) => {
    const fresh = await folderOfTest();
    const finished = await petstoreHere(fresh, call.split(' '));
    expect([finished.code, finished.stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(existsSync(join(fresh, 'data'))).toBe(false);
  });

  it.each([['client create --name A --plan free --json'], ['db migrate']])(
    'is made and named by %s, once',
    async (call) => {
      const fresh = await folderOfTest();
      const path = join(await realpath(fresh), 'data/petstore.sqlite');
      const first = await petstoreHere(fresh, call.split(' '));
      const second = await petstoreHere(fresh, call.split(' '));
      expect([first.code, first.stderr]).toEqual([0, `Created the database ${path}.\n`]);
      expect([second.code, second.stderr]).toEqual([0, '']);
    },
  );
});
