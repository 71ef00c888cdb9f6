import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOfTest } from '../../test/support/service-process.js';
import { staleBuild, staleCommands } from './project-modules.js';

/** Writes a project with these files, each with the time, in seconds, at which it was written. */
async function project(files: Readonly<Record<string, number>>): Promise<string> {
  const folder = await folderOfTest();
  for (const [file, time] of Object.entries(files)) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await writeFile(join(folder, file), '');
    await utimes(join(folder, file), time, time);
  }
  return join(folder, 'dist/app.module.js');
}

const BUILT = { 'dist/app.module.js': 2, 'dist/toys/toy.entity.js': 3 };

it.each([
  ['without sources', {}, false],
  ['as new as its sources', { 'src/app.module.ts': 1, 'src/toys/toy.entity.ts': 3 }, false],
  ['older than a suite alone', { 'src/toys/toys.spec.ts': 4 }, false],
  ['older than a source', { 'src/toys/toy.entity.ts': 4 }, true],
])('a build %s', async (_, sources, isStale) => {
  const line = await staleBuild(await project({ ...BUILT, ...sources }));
  expect(line).toMatch(isStale ? /newer than the build in .*dist, .*npm run build/ : /^$/);
});

it.each([
  ['that is absent', {}, false],
  ['as new as the build', { 'dist/openapi-admin.json': 3 }, false],
  ['older than the build', { 'dist/openapi-admin.json': 2 }, true],
])('a document of the commands %s', async (_, document, isStale) => {
  const line = await staleCommands(await project({ ...BUILT, ...document }));
  expect(line).toMatch(isStale ? /newer than .*openapi-admin\.json.*npm run build/ : /^$/);
});
