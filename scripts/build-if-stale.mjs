// Builds dist/ when a source is newer than the last build, so that starting is one command; with --always in any case. A deployment
// that cannot be built, or is in production, runs what it was given. Silent on stdout.
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
// As a whole: one that lacks parseEnv() has to get as far as to be refused.
import util from 'node:util';
import { refuseOtherNode } from '../bin/supported-node.js';

refuseOtherNode();

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const stamp = join(dist, '.built');
/** A page, which docs/page-files.ts finds alongside src, and the document whose operations are commands. */
const DOCS = ['docs/using-the-api.md', 'docs/openapi-admin.json'];
/** What a build is made of. */
export const INPUTS = [
  'ormconfig.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/bundle.mjs',
  'package-lock.json',
  ...DOCS,
  'bin',
  'src',
];
/** Compiled by Go, and five times as fast as the compiler with an API, which `nest start` needs. */
const COMPILER = join(root, 'node_modules', 'typescript-7', 'bin', 'tsc');
/** What a build needs besides the sources; `npm prune --omit=dev` removes it. */
const COMPILERS = ['typescript-7', `@typescript/typescript-${process.platform}-${process.arch}`, 'rolldown'];

/**
 * Builds dist/ if it is older than its sources. Where there is a build it stays as it is in production (NODE_ENV, also in `.env`),
 * and where the sources or what compiles them are absent. Ends the process with 1 when the build fails, or when there is none and
 * none can be made.
 */
export function buildIfStale() {
  const isBuilt = existsSync(join(dist, 'bundle', 'main.js'));
  if (isBuilt && (isProduction() || missing().length > 0)) return;
  if (!isFresh()) build(isFresh);
}

/** Whether there is a build, and no source is newer. */
function isFresh() {
  return existsSync(join(dist, 'bundle', 'main.js')) && newest() <= modifiedAt(stamp);
}

/** Makes a build; one that `isNeedless` once it is made, because another process has made it in the meantime, is thrown away. */
function build(isNeedless = () => false) {
  const absent = missing();
  if (absent.length > 0)
    end(
      `There is no build that could run, and none can be made: ${absent.join(', ')} ${absent.length > 1 ? 'are' : 'is'} absent. ` +
        'Run `npm ci && npm run build` where the sources are, then bring dist/ here.',
    );
  // Beside the build that works, which a failed one leaves as it is.
  const buildFolder = join(root, `dist.building-${process.pid}`);
  try {
    make(buildFolder);
    if (isNeedless()) rmSync(buildFolder, { recursive: true });
    else swap(buildFolder);
  } catch (error) {
    rmSync(buildFolder, { recursive: true, force: true });
    end(`No build can be made in ${root}: ${reasonOf(error)}`);
  }
}

/** Makes a build in a folder that is not there yet. Ends the process with 1 when a compiler fails. */
function make(buildFolder) {
  const started = new Date();
  // Who starts for the first time waits for this; later builds are known.
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
    { done: 'The sources are compiled', command: [COMPILER, ...compile, '--incremental', 'false'] },
    {
      done: 'What a start reads is joined into few files',
      command: [join(root, 'scripts', 'bundle.mjs'), buildFolder],
    },
  ]) {
    const since = performance.now();
    const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: ['ignore', 2, 2] });
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    if (status === 0 && isFirst) process.stderr.write(`${done} (${seconds} s)\n`);
    if (status === 0) continue;
    rmSync(buildFolder, { recursive: true, force: true });
    const before = existsSync(dist) ? ' The build before is still there.' : '';
    end(`The build failed; the errors are above.${before}`);
  }
  writeFileSync(join(buildFolder, '.built'), '');
  // A source saved while the build ran is newer than its stamp.
  utimesSync(join(buildFolder, '.built'), started, started);
}

/** Copies what is served as it is: files below folders `static` of src, also linked ones, and those of docs. */
function copyServed(buildFolder) {
  const isServed = (file) =>
    dirname(file).split(sep).includes('static') && statSync(join(root, file)).isFile();
  for (const file of [...DOCS, ...filesIn('src').filter(isServed)]) {
    mkdirSync(dirname(join(buildFolder, file)), { recursive: true });
    // Not the folders, which may be read-only: a build has to be removed again.
    copyFileSync(join(root, file), join(buildFolder, file));
  }
}

/** Puts a whole build in the place of the one before; no moment has a part of one. */
function swap(buildFolder) {
  const before = join(root, `dist.before-${process.pid}`);
  for (let isIn = false; !isIn;) {
    renamed(dist, before);
    isIn = renamed(buildFolder, dist);
    rmSync(before, { recursive: true, force: true });
  }
}

/** Renames a folder; returns false when there is none of that name any more, or another process has just put one in its place. */
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

/** Why no build can be made, and what to do. */
function reasonOf({ code, message }) {
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'the disk is full. Make room on it.';
  if (!['EACCES', 'EPERM', 'EROFS'].includes(code)) return message;
  const other = existsSync(join(dist, 'bundle', 'main.js'))
    ? ' The sources are newer than the build that is there; NODE_ENV=production runs that as it is.'
    : '';
  return `this user may not write there. Build as a user who may.${other}`;
}

/** Removes what builds have left that were killed. */
function removeLeftovers() {
  for (const name of readdirSync(root)) {
    const [, pid] = /^dist\.(?:building|before)-(\d+)$/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    // Killed between its two renames: this is the build that works.
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

/** What a build would need that is not here. */
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
    // What is about to run says in a sentence why it cannot be read.
    return true;
  }
}

function newest() {
  return Math.max(
    ...[...INPUTS, ...filesIn('bin'), ...filesIn('src')].map((file) => modifiedAt(join(root, file))),
  );
}

/** What is in a folder, from the root. */
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
