import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import '../../../src/app.module.js';
import { petstoreProgram } from '../../../src/cli/program.js';
import { declaredSettings } from '../../../src/core/config/define-settings.js';
import { BackupFolder, drillLines } from '../../support/backup-folder.js';
import { callsIn, codeIn, faultOfCall } from '../../support/documented-calls.js';
import { ROOT } from '../../support/service-process.js';

const texts = await Promise.all(
  ['.', 'docs', 'docs/operations', 'docs/guides', 'docs/decisions'].map(async (folder) => {
    const names = await readdir(join(ROOT, folder));
    const pages = names.filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md');
    return Promise.all(
      pages.map(
        async (name) => [`${folder}/${name}`, await readFile(join(ROOT, folder, name), 'utf8')] as const,
      ),
    );
  }),
);
/** Every page with calls of the command line, and its text. */
const PAGES = texts.flat();

const program = petstoreProgram({
  withApp: () => Promise.reject(new Error('nothing is run')),
  loadModules: () => Promise.resolve(),
  write: () => undefined,
  writeError: () => undefined,
});

it('every call of the command line in the docs is of a command and of options that there are', () => {
  const calls = PAGES.flatMap(([page, text]) => callsIn(text, program).map((call) => ({ page, call })));
  expect(calls.length).toBeGreaterThan(120);
  const faults = calls.flatMap(({ page, call }) => {
    const fault = faultOfCall(call, program);
    return fault === undefined ? [] : [`${page}: ${call.words.join(' ')}: ${fault}`];
  });
  expect(faults).toEqual([]);
});

it.each([
  ['client creat --name N', 'no such command: creat'],
  ['key issue --client <id> --scope a', 'no such option: --scope'],
  ['db restore', 'needs <file>'],
  ['client create --name N --plan golden', '--plan takes no "golden"'],
])('a wrong call is noticed: %s', (call, fault) => {
  const calls = callsIn(`\`\`\`sh\nnpx petstore ${call} # why\n\`\`\``, program);
  expect(calls.map((one) => faultOfCall(one, program))).toEqual([fault]);
});

it('every setting that the docs for operators name is one', () => {
  const settings = declaredSettings().flatMap((declared) =>
    declared.settings.map(({ variable }) => variable),
  );
  // Of others; a misspelt one, and errors of SQLite.
  const others =
    'MALLOC_ARENA_MAX NODE_OPTIONS NODE_VERSION NO_COLOR DATABSE_URL SQLITE_CORRUPT SQLITE_NOTADB';
  const known = new Set([...settings, ...others.split(' ')]);
  const ofOperators = PAGES.filter(([page]) =>
    /^docs\/(?:operations(?:\/.*)?|security|reliability|scale)\.md$/.test(page),
  );
  expect(ofOperators.length).toBeGreaterThan(5);
  const named = ofOperators.flatMap(([page, text]) =>
    codeIn(text).flatMap((code) =>
      (code.text.match(/\b[A-Z]{2,}(?:_[A-Z0-9]+)+\b/g) ?? []).map((name) => ({ page, name })),
    ),
  );
  const unknown = named.filter(
    ({ name }) => !known.has(name) && !/^(?:OTEL|PETSTORE_TEST|PETSTORE_TORTURE|POSTGRES)_/.test(name),
  );
  expect(unknown).toEqual([]);
});

it('the first key is made by the lines that docs/operations.md has', async () => {
  const lines = await drillLines('../operations.md', 'first key');
  expect(lines.pop()).toBe('npm start');
  const folder = await BackupFolder.make();
  const made = await folder.shell(lines.filter((line) => !line.endsWith('# on PostgreSQL')).join('\n'));
  expect(made.code).toBe(0);
  const [key = ''] = /pst_live_\w+/.exec(made.output) ?? [];
  const service = await folder.start({ NODE_ENV: 'production' });
  const { status } = await fetch(`${service.url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
  expect(status).toBe(200);
});
