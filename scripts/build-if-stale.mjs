// Builds dist/ if a source file is newer than the last build, so that `npm start` is all it takes. With --always, it builds in any case.
// In production, and where the sources or the compilers are missing, an existing build is used as it is. Prints nothing to stdout.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
// A named import of parseEnv() would fail on an older Node.js before refuseOtherNode() could print its message.
import util from 'node:util';
import { refuseOtherNode } from '../bin/supported-node.js';

refuseOtherNode();

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
/** A page that docs/page-files.ts looks for next to src, and the OpenAPI document from which the command line derives commands. */
const DOCS = ['docs/using-the-api.md', 'docs/openapi-admin.json'];
/** The files and folders that a build depends on. */
export const INPUTS = [
  'ormconfig.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/bundle.mjs',
  'scripts/common-js.mjs',
  'package-lock.json',
  ...DOCS,
  'bin',
  'src',
];
/** The compiler written in Go: five times as fast as the JavaScript one, whose API `nest start` needs. */
const COMPILER = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc');
/** The packages that a build needs. `npm prune --omit=dev` removes them. */
const COMPILERS = ['typescript-7', `@typescript/typescript-${process.platform}-${process.arch}`, 'rolldown'];

/**
 * Builds dist/ if it is older than its sources. An existing build is kept in production (NODE_ENV, which may be set in `.env`) and where
 * the sources or the compilers are missing. Exits with 1 if the build fails, or if dist/ is missing and cannot be built.
 */
export function buildIfStale() {
  const isBuilt = existsSync(join(dist, 'bundle', 'main.js'));
  if (isBuilt && (isProduction() || missing().length > 0)) return;
  if (!isFresh()) build(isFresh);
}

/** Whether there is a build and no source file is newer. */
function isFresh() {
  return existsSync(join(dist, 'bundle', 'main.js')) && newest() <= modifiedAt(stamp);
}

/** Builds dist/. The new build is discarded if `isNeedless` then returns true, because another process has built dist/ in the meantime. */
function build(isNeedless = () => false) {
  const absent = missing();
  if (absent.length > 0)
    end(
      `dist/ cannot be built, because ${absent.join(', ')} ${absent.length > 1 ? 'are' : 'is'} missing. ` +
        'Run `npm ci && npm run build` in a full checkout, then copy dist/ here.',
    );
  // In a separate folder, so that a failed build leaves the existing one unchanged.
  const buildFolder = join(root, `dist.building-${process.pid}`);
  try {
    make(buildFolder);
    if (isNeedless()) rmSync(buildFolder, { recursive: true });
    else swap(buildFolder);
  } catch (error) {
    rmSync(buildFolder, { recursive: true, force: true });
    end(`Cannot build in ${root}: ${reasonOf(error)}`);
  }
}

/** Builds into a new folder. Exits with 1 if a compiler fails. */
function make(buildFolder) {
  const started = new Date();
  // The first build reports its progress, because the user does not expect to wait.
  const isFirst = !existsSync(dist);
  process.stderr.write(isFirst ? 'Building for the first time, in 2 steps…\n' : 'Building…\n');
  removeLeftovers();
  mkdirSync(buildFolder);
  copyServed(buildFolder);
  const compile = [
    '--project',
    'tsconfig.build.json',
    '--outDir',
    buildFolder,
    '--rootDir',
    root,
    '--pretty',
  ];
  for (const { done, command } of [
    { done: 'Compiled the sources', command: [COMPILER, ...compile, '--incremental', 'false'] },
    {
      done: 'Bundled the files that are loaded at startup',
      command: [join(root, 'scripts', 'bundle.mjs'), buildFolder],
    },
  ]) {
    const since = performance.now();
    const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: ['ignore', 2, 2] });
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    if (status === 0 && isFirst) process.stderr.write(`${done} (${seconds} s)\n`);
    if (status === 0) continue;
    rmSync(buildFolder, { recursive: true, force: true });
    const before = existsSync(dist) ? ' The previous build is unchanged.' : '';
    end(`The build failed; the errors are above.${before}`);
  }
  writeFileSync(join(buildFolder, '.built'), '');
  // The stamp has the time at which the build started, so that a file saved during the build counts as newer.
  utimesSync(join(buildFolder, '.built'), started, started);
}

/** Copies the files that are served unchanged: everything in the `static` folders of src, including linked files, and DOCS. */
function copyServed(buildFolder) {
  const isServed = (file) =>
    dirname(file).split(sep).includes('static') && statSync(join(root, file)).isFile();
  for (const file of [...DOCS, ...filesIn('src').filter(isServed)]) {
    mkdirSync(dirname(join(buildFolder, file)), { recursive: true });
    // Copies files only: a copy of a read-only folder would be read-only as well, and the build could not be removed.
    copyFileSync(join(root, file), join(buildFolder, file));
  }
}

/** Replaces dist/ with a complete build. At no time does dist/ contain part of a build. */
function swap(buildFolder) {
  const before = join(root, `dist.before-${process.pid}`);
  for (let isIn = false; !isIn;) {
    renamed(dist, before);
    isIn = renamed(buildFolder, dist);
    rmSync(before, { recursive: true, force: true });
  }
}

/** Renames a folder. Returns false if dist/ no longer exists, or if another process has just created it. */
function renamed(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (from !== dist && ['ENOTEMPTY', 'EEXIST'].includes(error.code)) return false;
    if (from === dist && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** The reason why a build failed, and the remedy. */
function reasonOf({ code, message }) {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full. Free some space and try again.';
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return message;
  const other = existsSync(join(dist, 'bundle', 'main.js'))
    ? ' The existing build is older than the sources. To run it anyway, set NODE_ENV=production.'
    : '';
  return `the current user cannot write there. Build as a user with write permission.${other}`;
}

/** Removes the folders that killed builds have left behind. */
function removeLeftovers() {
  for (const name of readdirSync(root)) {
    const [, pid] = /^dist\.(?:building|before)-(\d+)$/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    // The process was killed between its two renames, so this is the previous build.
    if (name.startsWith('dist.before') && !existsSync(dist)) renameSync(join(root, name), dist);
    else rmSync(join(root, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** What a build needs and cannot find. */
function missing() {
  const compilers = COMPILERS.filter((name) => !existsSync(join(root, 'node_modules', name, 'package.json')));
  return [...(existsSync(join(root, 'src')) ? [] : ['src']), ...compilers];
}

function isProduction() {
  const { NODE_ENV } = process.env;
  if (NODE_ENV !== undefined) return NODE_ENV === 'production';
  if (!existsSync('.env')) return false;
  try {
    return util.parseEnv(readFileSync('.env', 'utf8').replace(/^\uFEFF/, '')).NODE_ENV === 'production';
  } catch {
    // The program that runs next reports why the file cannot be read.
    return true;
  }
}

function newest() {
  return Math.max(
    ...[...INPUTS, ...filesIn('bin'), ...filesIn('src')].map((file) => modifiedAt(join(root, file))),
  );
}

/** The paths of everything in a folder, relative to the project's root. */
function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file));
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function end(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--always') build();
  else buildIfStale();
}
