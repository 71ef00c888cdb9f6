import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import '../../src/app.module.js';
import type { Shell } from '../../src/cli/shell.js';
import { petstoreProgram } from '../../src/cli/program.js';
import { declaredSettings } from '../../src/core/config/define-settings.js';
import { BackupFolder, drillLines } from '../support/backup-folder.js';
import { callsIn, codeIn, faultOfCall } from '../support/documented-calls.js';
import { ROOT } from '../support/service-process.js';

/** The pages for operators, and those that lead to them. */
const OPERATIONS = [
  'docs/operations.md',
  ...(await markdownIn('docs/operations')),
  'docs/security.md',
  'docs/reliability.md',
  'docs/scale.md',
];
/** Every page with calls of the command line. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...(await markdownIn('docs')),
  ...(await markdownIn('docs/operations')),
  ...(await markdownIn('docs/guides')),
  ...(await markdownIn('docs/decisions')),
];

async function markdownIn(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder));
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);
}

const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const sources = (await readdir(join(ROOT, 'src'), { recursive: true }))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
  .map((path) => read(join('src', path)));
const source = (await Promise.all(sources)).join('\n');

const shell: Shell = {
  withApp: () => Promise.reject(new Error('nothing is run')),
  loadModules: () => Promise.resolve(),
  write: () => undefined,
  writeError: () => undefined,
};

describe('a call of the command line in the docs', () => {
  const program: Command = petstoreProgram(shell);

  it.each(PAGES)('is of a command and of options that there are: %s', async (page) => {
    const faults = callsIn(await read(page), program).flatMap((call) => {
      const fault = faultOfCall(call, program);
      return fault === undefined ? [] : [`${call.words.join(' ')}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it('is found wherever it stands', async () => {
    const calls = await Promise.all(PAGES.map(async (page) => callsIn(await read(page), program)));
    expect(calls.flat().length).toBeGreaterThan(120);
  });

  it.each([
    ['client creat --name N', 'no such command: creat'],
    ['key issue --client <id> --scope a', 'no such option: --scope'],
    ['db restore', 'needs <file>'],
    ['client list more', 'takes no "more"'],
    ['client create --name N --plan golden', '--plan takes no "golden"'],
  ])('that is wrong is noticed: %s', (call, fault) => {
    const calls = callsIn(`\`\`\`sh\nnpx petstore ${call} # why\n\`\`\``, program);
    expect(calls.map((one) => faultOfCall(one, program))).toEqual([fault]);
  });
});

/** Variables in the docs for operators that others read. */
const OF_OTHERS = ['MALLOC_ARENA_MAX', 'NODE_OPTIONS', 'NODE_VERSION', 'NO_COLOR'];
/** Words of the same form that are no variables: a misspelt one, and errors of SQLite. */
const NO_VARIABLE = ['DATABSE_URL', 'SQLITE_CORRUPT', 'SQLITE_NOTADB'];

describe('a name in the docs for operators', () => {
  const settings = declaredSettings().flatMap((declared) =>
    declared.settings.map(({ variable }) => variable),
  );

  it.each(OPERATIONS)('is that of a setting that there is: %s', async (page) => {
    const known = new Set([...settings, ...OF_OTHERS, ...NO_VARIABLE]);
    const named = codeIn(await read(page)).flatMap(
      ({ text }) => text.match(/\b[A-Z]{2,}(?:_[A-Z0-9]+)+\b/g) ?? [],
    );
    const unknown = named.filter(
      (name) => !known.has(name) && !/^(?:OTEL|PETSTORE_TEST|PETSTORE_TORTURE|POSTGRES)_/.test(name),
    );
    expect(unknown).toEqual([]);
  });

  it.each(OPERATIONS)('is that of a metric that there is: %s', async (page) => {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    const known = new Set([
      ...registry.getMetricsAsArray().map(({ name }) => name),
      ...[...source.matchAll(/'((?:http|petstore)_[a-z0-9_]+)'/g)].map(([, name = '']) => name),
    ]);
    const wrong: string[] = [];
    let last = '';
    for (const { text } of codeIn(await read(page)))
      for (const [name] of text.matchAll(
        /(?<![\w/])(?:(?:http|petstore|nodejs|process)_[a-z0-9_]+\b(?!…)|_[a-z]+(?=$))/g,
      )) {
        if (name.endsWith('_')) continue;
        // `petstore_x_up`, `_max` is short for petstore_x_max.
        const full = name.startsWith('_')
          ? [...last.matchAll(/_|$/g)].map(({ index }) => last.slice(0, index) + name)
          : [name];
        const found = full.find((one) => known.has(one));
        if (found === undefined) wrong.push(name);
        else if (!name.startsWith('_')) last = found;
      }
    expect(wrong).toEqual([]);
  });
});

describe('a line of the log that the docs quote', () => {
  const quoted = [
    ['docs/operations/database.md', 'is written again'],
    ['docs/operations/database.md', 'is locked by another process'],
    ['docs/operations/database.md', 'cannot be read'],
    ['docs/operations/database.md', 'Old rows of … cannot be deleted'],
    ['docs/operations/postgresql.md', '… does not answer: why'],
    ['docs/operations/postgresql.md', '… cannot be written: …'],
    ['docs/operations/postgresql.md', '… does not answer commits'],
    ['docs/operations/postgresql.md', '… does not keep up: why'],
    ['docs/operations/postgresql.md', '… keeps up again'],
    ['docs/operations/instances.md', 'Redis failed (why); this instance counts alone, …'],
    ['docs/operations/instances.md', 'Quotas are counted in Redis'],
    ['docs/operations/instances.md', 'Redis cannot be used (why); …'],
    ['docs/operations/instances.md', 'Overloaded: … What cannot be carried is answered…'],
    ['docs/operations/instances.md', 'No longer overloaded: 120 requests were …'],
    ['docs/operations/tracing.md', 'Requests are traced by the registered OpenTelemetry SDK'],
  ] as const;

  it.each(quoted)('%s: %s', async (page, line) => {
    expect(codeIn(await read(page)).map(({ text }) => text)).toContain(line);
    // What differs from line to line, and what the page has in place of it, is left out.
    const parts = line.split(/…|\bwhy\b|\d+|SIGKILL/).map((part) => part.trim());
    for (const part of parts.filter((one) => one.length > 4)) expect(source).toContain(part);
  });
});

it('the first key is made by the lines that docs/operations.md has', async () => {
  const lines = await drillLines('../operations.md', 'first key');
  const start = lines.pop();
  expect(start).toBe('npm start');
  const [issue = '', ...before] = lines.filter((line) => !line.endsWith('# on PostgreSQL')).toReversed();
  const folder = await BackupFolder.make();
  const made = await folder.shell(before.toReversed().join('\n'));
  const [id = ''] = /[\da-f]{8}-[\da-f-]{27}/.exec(made.output) ?? [];
  const issued = await folder.shell(
    `export NODE_ENV=production\n${issue.replace('<the id that it printed>', id)}`,
  );
  expect([made.code, issued.code]).toEqual([0, 0]);
  const [key = ''] = /pst_live_\w+/.exec(issued.output) ?? [];
  const service = await folder.start({ NODE_ENV: 'production' });
  const { status } = await fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  expect(status).toBe(200);
});
