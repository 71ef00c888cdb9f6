import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { emptyFolder, petstore, ROOT, BARE_ENVIRONMENT } from '../../support/service-process.js';

const typeorm = (folder: string, ...args: string[]) =>
  promisify(execFile)(
    process.execPath,
    [join(ROOT, 'node_modules/typeorm/cli.js'), ...args, '-d', join(ROOT, 'dist/ormconfig.js')],
    {
      cwd: folder,
      env: BARE_ENVIRONMENT,
    },
  );

it('the TypeORM CLI opens the service’s database through ormconfig.ts, and finds entities and migrations in step', async () => {
  const folder = await emptyFolder();
  await petstore(folder.path, ['db', 'migrate']);
  const { stdout } = await typeorm(folder.path, 'migration:show');
  expect(stdout).toMatch(/\[X\] \d+ ClientsAndKeys/);
  expect(stdout).toMatch(/\[X\] \d+ Pets/);
  expect(stdout).toMatch(/\[X\] \d+ QuotaJournal/);
  expect(stdout).toMatch(/\[X\] \d+ KeyLife/);
  const drift = await typeorm(folder.path, 'schema:log');
  expect(drift.stdout).toMatch(/up to date/);
  await folder.remove();
});
