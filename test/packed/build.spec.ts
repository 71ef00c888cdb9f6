import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { writeFiles } from '../support/project-copy.js';
import { folderOfTest, ran, ROOT } from '../support/service-process.js';

/** What a build needs besides the sources. */
const COMPILERS = ['typescript-7', '@typescript', 'rolldown'];
/**
 * Files of a project that is built in a moment: the real scripts, and few sources. Its bundle waits for the end of a file `wait`.
 * That the whole project can be built is proven by what is packed of it.
 */
const FILES: readonly (readonly [string, string])[] = [
  ['package.json', '{ "type": "module", "engines": { "node": ">=20.0.0" } }'],
  [
    'tsconfig.build.json',
    '{ "compilerOptions": { "module": "nodenext", "lib": ["es5"] }, "include": ["src"] }',
  ],
  ['docs/using-the-api.md', '# Guide'],
  ['docs/openapi-admin.json', '{}'],
  ['src/main.ts', 'export const main = 1;\n'],
  [
    'scripts/bundle.mjs',
    `import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
     while (existsSync('wait')) await new Promise((resolve) => setTimeout(resolve, 5));
     const bundle = process.argv[2] + '/bundle';
     mkdirSync(bundle + '/cli', { recursive: true });
     writeFileSync(bundle + '/main.js', '');
     writeFileSync(bundle + '/cli/main.js', 'console.log("It runs.")');`,
  ],
];

/** Makes the project in an empty folder. */
async function makeProject(source?: string): Promise<string> {
  const made = await folderOfTest();
  const project = source ?? made;
  await writeFiles(project, FILES);
  for (const file of ['bin', 'scripts/build-if-stale.mjs'])
    await cp(join(ROOT, file), join(project, file), { recursive: true });
  await mkdir(join(project, 'node_modules'));
  for (const name of COMPILERS)
    await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  return project;
}

/** Runs a script of a project there. */
const run = (
  project: string,
  script: string,
  args: readonly string[] = [],
  environment?: NodeJS.ProcessEnv,
) => ran(project, process.execPath, [join(project, script), ...args], environment);

const build = (project: string) => run(project, 'scripts/build-if-stale.mjs', ['--always']);
const petstore = (project: string, environment?: NodeJS.ProcessEnv) =>
  run(project, 'bin/petstore.js', [], environment);
const idOf = async (project: string) => (await stat(join(project, 'dist'))).ino;
const buildFolders = async (project: string) =>
  (await readdir(project)).filter((name) => name.startsWith('dist.'));
const touch = (project: string) => writeFile(join(project, 'src/newer.ts'), '');

describe('a build', () => {
  it('that fails keeps the previous one, says so, and leaves nothing next to it', async () => {
    const project = await makeProject();
    await build(project);
    const before = await idOf(project);
    await writeFile(join(project, 'src/broken.ts'), 'export const = 1;\n');
    const { code, stderr } = await build(project);
    expect([code, stripVTControlCharacters(stderr)]).toEqual([
      1,
      expect.stringMatching(/broken\.ts:1:14[^]*The build failed.*The previous build is unchanged\.\n$/),
    ]);
    expect([await idOf(project), await buildFolders(project)]).toEqual([before, []]);
  });

  it('whose code awaits outside a function fails with what to write instead', async () => {
    const path = await folderOfTest();
    await writeFiles(path, [
      ['dist/src/main.js', "import './orders.js';"],
      ['dist/src/cli/main.js', ''],
      ['dist/src/orders.js', '\nexport const orders = await Promise.resolve([]);'],
    ]);
    const { code, stderr } = await run(ROOT, 'scripts/bundle.mjs', [join(path, 'dist')]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/src\/orders\.js:2: await outside a function .* an async useFactory\(\)\./),
    ]);
  });

  it('that is killed leaves the one before, and the next removes what it left', async () => {
    const project = await makeProject();
    await build(project);
    const before = await idOf(project);
    await writeFile(join(project, 'wait'), '');
    const options = { cwd: project, detached: true, stdio: 'ignore' } as const;
    const child = spawn(process.execPath, ['scripts/build-if-stale.mjs', '--always'], options);
    await expect.poll(() => buildFolders(project)).toHaveLength(1);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await once(child, 'close');
    expect([await idOf(project), (await buildFolders(project)).length]).toEqual([before, 1]);
    await rm(join(project, 'wait'));
    expect((await build(project)).code).toBe(0);
    expect(await buildFolders(project)).toEqual([]);
  });

  it('is rebuilt when the service starts and a source is newer, but not in production, or if .env cannot be read', async () => {
    const project = await makeProject();
    await build(project);
    const before = await idOf(project);
    await touch(project);
    const expected = { code: 0, stdout: 'It runs.\n', stderr: '' };
    expect(await petstore(project, { NODE_ENV: 'production' })).toMatchObject(expected);
    await writeFile(join(project, '.env'), 'NODE_ENV=production\n');
    expect(await petstore(project)).toMatchObject(expected);
    await rm(join(project, '.env'));
    await mkdir(join(project, '.env'));
    expect(await petstore(project)).toMatchObject(expected);
    await rm(join(project, '.env'), { recursive: true });
    expect(await idOf(project)).toBe(before);
    const anew = { ...expected, stderr: 'Building…\n' };
    expect(await petstore(project)).toMatchObject(anew);
    expect(await idOf(project)).not.toBe(before);
    // The bundle contains it as well.
    await utimes(join(project, 'bin/project-modules.js'), new Date(), new Date());
    expect(await petstore(project)).toMatchObject(anew);
    expect(await petstore(project)).toMatchObject(expected);
  });

  it('is enough without what only a build needs, though a source is newer, and without the sources', async () => {
    const project = await makeProject();
    await build(project);
    await touch(project);
    await rm(join(project, 'node_modules'), { recursive: true });
    for (const script of ['bin/petstore.js', 'scripts/build-if-stale.mjs'])
      expect(await run(project, script)).toMatchObject({ code: 0, stderr: '' });
    for (const part of ['src', 'docs', 'scripts']) await rm(join(project, part), { recursive: true });
    expect(await petstore(project)).toMatchObject({ code: 0, stdout: 'It runs.\n', stderr: '' });
  });

  it('made by two at the same time in a fresh clone is that of the first: a process that starts from it keeps its files', async () => {
    const project = await makeProject();
    const both = [petstore(project), petstore(project)];
    expect(await Promise.race(both)).toMatchObject({ code: 0 });
    const first = await idOf(project);
    for (const one of await Promise.all(both)) expect(one).toMatchObject({ code: 0, stdout: 'It runs.\n' });
    expect([await idOf(project), await buildFolders(project)]).toEqual([first, []]);
  });
});
