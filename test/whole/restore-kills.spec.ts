import { copyFile, readFile, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pet, storeWith } from '../support/backup-orders.js';
import { spawnPetstore, folderOfTest, ROOT } from '../support/service-process.js';
import { SqliteFile, rowsOf } from '../support/sqlite-file.js';

/** The steps before which a restore of the given number of steps is killed: some while it copies, and each of the last, which change names. */
const killedSteps = (steps: number, naming: number) => [
  ...[0.3, 0.7].map((share) => Math.ceil(share * (steps - naming))),
  ...Array.from({ length: naming }, (_, index) => steps - naming + 1 + index),
];

/** What the database has that a name leads to: the names of its animals. Throws unless it is sound. */
async function contentOf(file: string): Promise<string> {
  expect(await rowsOf(file, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  return (await rowsOf<{ name: string }>(file, 'SELECT name FROM pets')).map(({ name }) => name).join();
}

/** A store whose process was killed: its last animal is in the write-ahead log alone. */
async function killedStore(file: string): Promise<void> {
  const source = await storeWith(pet(1));
  const writer = await SqliteFile.open(source);
  onTestFinished(() => writer.close());
  await writer.run(`PRAGMA journal_mode = WAL; ${pet(2)}`);
  for (const end of ['', '-wal']) await copyFile(`${source}${end}`, `${file}${end}`);
}

/** Restores a backup by its own process, which is killed before that step; returns how many it made when it was not. */
async function restoreKilled(database: string, backup: string, killedAt: number, environment = {}) {
  const stepsFile = join(await folderOfTest(), 'steps');
  const { outcome } = spawnPetstore(dirname(database), ['db', 'restore', backup, '--yes'], {
    DATABASE_URL: `sqlite:${database}`,
    NODE_OPTIONS: `--import ${join(ROOT, 'test/support/killed-at-step.mjs')}`,
    KILLED_AT: String(killedAt),
    STEPS: stepsFile,
    ...environment,
  });
  const ended = await outcome;
  return { ...ended, steps: Number(await readFile(stepsFile, 'utf8').catch(() => 0)) };
}

describe('a restore that is killed', () => {
  it.each([
    ['', 12, {}],
    [', where the file system has no links', 9, { NO_LINKS: '1' }],
  ])(
    'leaves at every step a sound database under its name, and is done again%s',
    async (_, naming, environment) => {
      const folder = await folderOfTest();
      const database = join(folder, 'petstore.sqlite');
      const backups = [await storeWith(pet(10)), await storeWith(pet(20))] as const;
      await killedStore(database);
      const first = await restoreKilled(database, backups[0], 0, environment);
      expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored') });
      await killedStore(database);
      let before = 'Pet 1,Pet 2';
      for (const [round, killedAt] of killedSteps(first.steps, naming).entries()) {
        const [backup, name] = round % 2 === 1 ? [backups[0], 'Pet 10'] : [backups[1], 'Pet 20'];
        const { signal, code, steps, stderr } = await restoreKilled(database, backup, killedAt, environment);
        const where = `before step ${killedAt} of some ${first.steps}: ${stderr}`;
        // What the one before has left decides whether there are a few steps more or less.
        if (code === 0) expect(steps, where).toBeLessThan(killedAt);
        else expect(signal, where).toBe('SIGKILL');
        const after = await contentOf(database);
        expect([before, name], where).toContain(after);
        before = after;
      }

      const last = await restoreKilled(database, backups[0], 0, environment);
      expect(last).toMatchObject({ code: 0, stdout: expect.stringContaining('Restored') });
      expect(await contentOf(database)).toBe('Pet 10');
      const replacedFiles = (await readdir(folder))
        .filter((name) => ![basename(database), `${basename(database)}-server`].includes(name))
        .toSorted();
      for (const name of replacedFiles) expect(name).toMatch(/^petstore\.sqlite\.replaced-\w+(-\d+)?$/);
      for (const name of replacedFiles)
        expect(['Pet 1,Pet 2', 'Pet 10', 'Pet 20']).toContain(await contentOf(join(folder, name)));
    },
  );
});
