// Names the suites that a change concerns, by what they import, and runs them with --run. The change is what differs from where the
// branch left main. Part of `npm run check`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileOfService } from './bundle.mjs';

/** The list of modules: by way of it every suite over HTTP would import every feature. */
const MODULES = 'src/app.module.ts';
const IMPORTED = /(?:\bfrom|\bimport\(?)\s*'([^']+)'/g;

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n').filter(Boolean);

function whereMainWasLeft() {
  for (const main of ['origin/main', 'main'])
    if (spawnSync('git', ['rev-parse', '-q', '--verify', main]).status === 0)
      return git('merge-base', 'HEAD', main)[0];
  return 'HEAD';
}

/** The files of the project that a file imports. */
function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(IMPORTED)].flatMap(([, name]) => {
    const path = name.startsWith('.') ? join(dirname(file), name) : fileOfService(name);
    const found = path && [path, path.replace(/js$/, 'ts')].find((one) => existsSync(one));
    return found ? [found] : [];
  });
}

const known = new Map();

/** Whether a file is among those, or imports one of them, directly or not; a feature in the list of modules concerns its own suites. */
function reaches(file, changed, seen = new Set()) {
  if (file === MODULES || seen.has(file)) return false;
  if (changed.has(file)) return true;
  seen.add(file);
  if (!known.has(file)) known.set(file, importsOf(file));
  return known.get(file).some((one) => reaches(one, changed, seen));
}

const changed = new Set([
  ...git('diff', '--name-only', '--relative', whereMainWasLeft()),
  ...git('ls-files', '--others', '--exclude-standard'),
]);
/** The folders of features and of the platform that are changed: suites in a folder of that name are theirs. */
const rooms = new Set([...changed].flatMap((file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? []));
const suites = git('ls-files', '--cached', '--others', '--exclude-standard', '*.spec.ts')
  .filter((file) => existsSync(file))
  .filter((file) => file.split('/').some((part) => rooms.has(part)) || reaches(file, changed));
console.log(`${changed.size} files are changed. Suites that they concern: ${suites.length}`);
for (const suite of suites) console.log(`  ${suite}`);
if (suites.length > 0 && process.argv.includes('--run'))
  process.exitCode = spawnSync('npx', ['vitest', 'run', ...suites], { stdio: 'inherit' }).status ?? 1;
else if (suites.length > 0) console.log('`npm run check -- --run` runs them.');
if (changed.has(MODULES))
  console.log(`Suites of features, and test/api/checkout, open ${MODULES}: \`npm test\` runs them.`);
