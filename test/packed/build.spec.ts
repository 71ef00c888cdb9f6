import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyProject } from '../support/project-copy.js';
import { NO_SMALL_DISK, fill, smallDisk } from '../support/small-disk.js';
import { type Finished, ROOT, ServiceProcess, emptyFolder } from '../support/service-process.js';

/** Runs a script of the project there. */
function run(
  project: string,
  script: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(project, script), ...args],
      { cwd: project, env: { PATH: process.env.PATH, ...environment } },
      (_, stdout, stderr) => resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr }),
    );
  });
}

const build = (project: string) => run(project, 'scripts/build-if-stale.mjs', ['--always']);
const petstore = (project: string, args: string[], environment?: NodeJS.ProcessEnv) =>
  run(project, 'bin/petstore.js', args, environment);
const builtAt = async (project: string) => (await stat(join(project, 'dist/bundle/main.js'))).mtimeMs;
const beside = async (project: string) => (await readdir(project)).filter((name) => name.startsWith('dist.'));

/** Leaves of what is installed only what `npm ci --omit=dev` installs. */
async function omitDevelopment(project: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean; link?: boolean }>;
  };
  await rm(join(project, 'node_modules'), { recursive: true });
  for (const [path, { dev, devOptional, link }] of Object.entries(packages)) {
    if (dev || devOptional || !/^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path)) continue;
    await mkdir(dirname(join(project, path)), { recursive: true });
    await symlink(link ? project : join(ROOT, path), join(project, path));
  }
}

describe('a build', () => {
  let project: string;
  let remove: () => Promise<void>;
  beforeAll(async () => {
    ({ path: project, remove } = await emptyFolder());
    await copyProject(project);
    expect(await build(project)).toMatchObject({ code: 0, stdout: '' });
  });
  afterAll(() => remove());

  it('that fails leaves the one before, says so, and leaves nothing beside it', async () => {
    const before = await builtAt(project);
    const broken = join(project, 'src/broken.ts');
    await writeFile(broken, 'export const = 1;\n');
    const { code, stderr } = await build(project);
    await rm(broken);
    expect([code, stripVTControlCharacters(stderr)]).toEqual([
      1,
      expect.stringMatching(/broken\.ts:1:14[^]*The build failed.*The build before is still there\.\n$/),
    ]);
    expect(await builtAt(project)).toBe(before);
    expect(await beside(project)).toEqual([]);
  });

  it('has the files of folders `static`, also linked ones, and may be replaced although those may not be written to', async () => {
    const folder = join(project, 'src/docs/pages/static');
    await writeFile(join(project, 'shared.txt'), 'Shared');
    await symlink(join(project, 'shared.txt'), join(folder, 'linked.txt'));
    await mkdir(join(folder, 'deep'));
    await writeFile(join(folder, 'deep/own.txt'), 'Own');
    await chmod(folder, 0o555);
    expect((await build(project)).code).toBe(0);
    for (const [file, text] of [
      ['linked.txt', 'Shared'],
      ['deep/own.txt', 'Own'],
    ] as const) {
      const built = join(project, 'dist/src/docs/pages/static', file);
      expect([await readFile(built, 'utf8'), (await lstat(built)).isFile()]).toEqual([text, true]);
    }
    const { mode } = await stat(join(project, 'dist/src/docs/pages/static'));
    expect(mode & 0o200).toBe(0o200);
    await chmod(folder, 0o755);
  });

  it('that is killed leaves the one before, and the next removes what it left', async () => {
    const before = await builtAt(project);
    const child = spawn(process.execPath, ['scripts/build-if-stale.mjs', '--always'], {
      cwd: project,
      detached: true,
      stdio: 'ignore',
    });
    await expect.poll(() => beside(project)).toHaveLength(1);
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await once(child, 'close');
    expect(await builtAt(project)).toBe(before);
    expect((await build(project)).code).toBe(0);
    expect(await builtAt(project)).toBeGreaterThan(before);
    expect(await beside(project)).toEqual([]);
  });

  it('is made anew by what starts the service when a source is newer, but not in production', async () => {
    await appendFile(join(project, 'src/core/time/clock.ts'), '\n');
    const before = await builtAt(project);
    await petstore(project, ['--help'], { NODE_ENV: 'production' });
    await writeFile(join(project, '.env'), 'NODE_ENV=production\n');
    await petstore(project, ['--help']);
    await rm(join(project, '.env'));
    expect(await builtAt(project)).toBe(before);
    expect((await petstore(project, ['--help'])).stderr).toBe('Building…\n');
    expect(await builtAt(project)).toBeGreaterThan(before);
  });

  it('is enough without what only a build needs, though a source is newer', async () => {
    await omitDevelopment(project);
    await appendFile(join(project, 'src/core/time/clock.ts'), '\n');
    for (const script of ['bin/petstore.js', 'scripts/build-if-stale.mjs'])
      expect(await run(project, script, ['--help'])).toMatchObject({ code: 0, stderr: '' });
    const service = await ServiceProcess.start(project, {}, join(project, 'dist/bundle/main.js'));
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200);
    expect((await fetch(`${service.url}/docs`)).status).toBe(200);
    expect((await service.stop()).code).toBe(0);
  });

  it('is enough without the sources and scripts', async () => {
    for (const part of ['src', 'test', 'scripts', 'schematics', 'docs', 'tsconfig.json', 'ormconfig.ts'])
      await rm(join(project, part), { recursive: true });
    for (const args of [['--help'], ['db', 'status'], ['client', 'list', '--json'], ['openapi']])
      expect([args, await petstore(project, args)]).toEqual([
        args,
        expect.objectContaining({ code: 0, stderr: '' }),
      ]);
    const service = await ServiceProcess.start(project, {}, join(project, 'dist/bundle/main.js'));
    expect((await fetch(`${service.url}/docs/guides/using-the-api`)).status).toBe(200);
    expect((await service.stop()).code).toBe(0);
  });
});

it('made by two at once in a fresh clone is that of the first: who starts on it keeps its files', async () => {
  const { path: project, remove } = await emptyFolder();
  await copyProject(project);
  const idOfDist = async () => (await stat(join(project, 'dist'))).ino;
  const makes = () => run(project, 'scripts/build-if-stale.mjs');
  const both = [makes(), makes()];
  expect(await Promise.race(both)).toMatchObject({ code: 0 });
  const first = await idOfDist();
  expect(await Promise.all(both)).toEqual([
    expect.objectContaining({ code: 0 }),
    expect.objectContaining({ code: 0 }),
  ]);
  expect(await idOfDist()).toBe(first);
  expect(await beside(project)).toEqual([]);
  await remove();
});

it.skipIf(NO_SMALL_DISK)('that has no room is told in one sentence, and leaves nothing', async () => {
  const project = await smallDisk(16, 4_096);
  await copyProject(project);
  await fill(project);
  const { code, stdout, stderr } = await petstore(project, ['--help']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^Building for the first time.*\nNo build can be made in .*: the disk is full\. Make room on it\.\n$/,
  );
  expect(await beside(project)).toEqual([]);
});

it('is left as it is where .env cannot be read, which what runs then says', async () => {
  const { path, remove } = await emptyFolder();
  await mkdir(join(path, '.env'));
  const child = await promisify(execFile)(process.execPath, [join(ROOT, 'bin/petstore.js'), '--version'], {
    cwd: path,
  });
  expect(child.stderr).toBe('');
  await remove();
});

it('is not asked for in a folder that was removed, which is told in one sentence', async () => {
  const gone = `mkdir gone && cd gone && rmdir ../gone && '${process.execPath}'`;
  const { path, remove } = await emptyFolder();
  for (const [file, told] of [
    ['bin/petstore.js', /^The working directory is not there any more\. .*\n$/],
    [
      'dist/bundle/main.js',
      /^The service could not start: its working directory is not there any more\. .*\n$/,
    ],
  ] as const)
    await expect(
      promisify(execFile)('sh', ['-c', `${gone} '${join(ROOT, file)}'`], { cwd: path }),
    ).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(told) });
  await remove();
});

it('copies what `nest start` copies', async () => {
  const { compilerOptions } = JSON.parse(await readFile(join(ROOT, 'nest-cli.json'), 'utf8')) as {
    compilerOptions: object;
  };
  expect(compilerOptions).toEqual({
    tsConfigPath: 'tsconfig.build.json',
    assets: [{ include: '**/static/**/*' }],
    watchAssets: true,
  });
});

it('that cannot be made is told in one sentence with what to do', async () => {
  const { path: project, remove } = await emptyFolder();
  await copyProject(project);
  await omitDevelopment(project);
  const { code, stdout, stderr } = await petstore(project, ['--help']);
  await remove();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'There is no build that could run, and none can be made: ' +
      `typescript-7, @typescript/typescript-${process.platform}-${process.arch}, rolldown are absent. ` +
      'Run `npm ci && npm run build` where the sources are, then bring dist/ here.\n',
  );
});
