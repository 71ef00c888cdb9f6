// Builds dist/ when a source is newer than the last build, so that starting is one command; with --always in any case.
// Silent on stdout.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');
const inputs = [
  'ormconfig.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'nest-cli.json',
  'scripts/bundle.mjs',
  'package-lock.json',
  'src',
];

/** Builds dist/ if it is older than its sources; exits the process with 1 when the build fails. */
export function buildIfStale() {
  if (newest() > modifiedAt(stamp)) build();
}

function build() {
  const started = new Date();
  process.stderr.write('Building…\n');
  // A file removed from src must not live on in dist.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  for (const command of [[nest, 'build'], [join(root, 'scripts', 'bundle.mjs')]]) {
    const { status } = spawnSync(process.execPath, command, { cwd: root, stdio: ['ignore', 2, 2] });
    if (status === 0) continue;
    process.stderr.write('The build failed; the errors stand above.\n');
    process.exit(1);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
  // A source saved while the build ran is newer than its stamp.
  utimesSync(stamp, started, started);
}

function newest() {
  return Math.max(...inputs.map((input) => modifiedAt(join(root, input))), ...sources().map(modifiedAt));
}

function sources() {
  return readdirSync(join(root, 'src'), { recursive: true }).map((file) => join(root, 'src', file));
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--always') build();
  else buildIfStale();
}
