// Lists the test suites that are affected by the changes since the branch diverged from main: those that import a changed file. With --run,
// it runs them. Part of `npm run check`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileOfService } from './bundle.mjs';

/** The list of modules. Imports are not followed beyond it: every suite that starts the service imports every feature through it. */
const MODULES = 'src/app.module.ts';
const IMPORTED = /(?:\bfrom|\bimport\(?)\s*'([^']+)'/g;

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n').filter(Boolean);

function mergeBase() {
  for (const main of ['origin/main', 'main'])
    if (spawnSync('git', ['rev-parse', '-q', '--verify', main]).status === 0)
      return git('merge-base', 'HEAD', main)[0];
  return 'HEAD';
}

/** The project's own files that a file imports. */
function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(IMPORTED)].flatMap(([, name]) => {
    const path = name.startsWith('.') ? join(dirname(file), name) : fileOfService(name);
    const found = path && [path, path.replace(/js$/, 'ts')].find((one) => existsSync(one));
    return found ? [found] : [];
  });
}

/** The imports of each file that has been read. */
const known = new Map();

/** Whether a file has changed or imports a changed file, directly or indirectly, except through the list of modules. */
function reaches(file, changed, seen = new Set()) {
  if (file === MODULES || seen.has(file)) return false;
  if (changed.has(file)) return true;
  seen.add(file);
  if (!known.has(file)) known.set(file, importsOf(file));
  return known.get(file).some((one) => reaches(one, changed, seen));
}

const changed = new Set([
  ...git('diff', '--name-only', '--relative', mergeBase()),
  ...git('ls-files', '--others', '--exclude-standard'),
]);
/** The changed folders in src. A suite in any folder of the same name tests that feature or part of the platform. */
const folders = new Set([...changed].flatMap((file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? []));
const suites = git('ls-files', '--cached', '--others', '--exclude-standard', '*.spec.ts')
  .filter((file) => existsSync(file))
  .filter((file) => file.split('/').some((part) => folders.has(part)) || reaches(file, changed));
console.log(`Changed files: ${changed.size}. Affected test suites: ${suites.length}`);
for (const suite of suites) console.log(`  ${suite}`);
if (suites.length > 0 && process.argv.includes('--run'))
  process.exitCode = spawnSync('npx', ['vitest', 'run', ...suites], { stdio: 'inherit' }).status ?? 1;
else if (suites.length > 0) console.log('To run them, use `npm run check -- --run`.');
if (changed.has(MODULES))
  console.log(`Suites of features and in test/api/checkout load ${MODULES}. To run them, use \`npm test\`.`);
