// npm run test:mutation [-- --mutate FILE,FILE] [--concurrency N]: changes the code of quotas, authentication and the data
// version in one place at a time, and tells which changes no suite notices. docs/decisions/0017-mutation-testing.md has the
// figures, and what may stay unnoticed. Ends with 1 when less than 90 % are noticed.
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { PARTS } from './parts.mjs';

/** Changes that must be noticed, in percent of all. */
const LEAST_NOTICED = 90;

const { values } = parseArgs({
  options: { mutate: { type: 'string' }, concurrency: { type: 'string', default: '2' } },
});
const wanted = values.mutate?.split(',');

/** Figures by file. */
const figures = new Map();
const unnoticed = [];

for (const { name, mutate, suites } of PARTS) {
  const files = wanted ? mutate.filter((file) => wanted.includes(file)) : mutate;
  if (files.length === 0) continue;
  const folder = `coverage/mutation/${name.replaceAll(' ', '-')}`;
  // For vitest.config.ts, also in the processes that Stryker starts: its own `testFiles` does not hold for what runs while a file loads.
  process.env.PETSTORE_MUTATION_SUITES = suites.join(',');
  const results = await new Stryker({
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    mutate: files,
    // A change is tried on the tests that reach it alone.
    coverageAnalysis: 'perTest',
    concurrency: Number(values.concurrency),
    // Beyond one and a half times what it takes unchanged: a change that makes a loop endless.
    timeoutMS: 10_000,
    // What no suite of the parts reads.
    ignorePatterns: ['bench', 'data', 'dist', 'docs', 'coverage'],
    disableTypeChecks: false,
    tempDirName: '.stryker-tmp',
    // Kept for the next run; it is read only with the same suites.
    incremental: true,
    incrementalFile: `${folder}/incremental.json`,
    reporters: ['html', 'progress-append-only'],
    htmlReporter: { fileName: `${folder}/index.html` },
    allowConsoleColors: false,
    logLevel: 'warn',
  }).runMutationTest();
  for (const { fileName, status, location, replacement, mutatorName } of results) {
    const file = fileName.slice(process.cwd().length + 1);
    const figure = figures.get(file) ?? {
      Killed: 0,
      Timeout: 0,
      Survived: 0,
      NoCoverage: 0,
      RuntimeError: 0,
    };
    figures.set(file, figure);
    if (status in figure) figure[status] += 1;
    if (status === 'Survived' || status === 'NoCoverage')
      unnoticed.push(
        `${file}:${location.start.line}:${location.start.column} ${status} ${mutatorName} → ${replacement}`,
      );
  }
}

console.log(unnoticed.toSorted().join('\n'));
console.table(Object.fromEntries(figures));
const sum = (...names) =>
  [...figures.values()].reduce(
    (total, figure) => total + names.reduce((part, of) => part + figure[of], 0),
    0,
  );
const [noticed, missed] = [sum('Killed', 'Timeout'), sum('Survived', 'NoCoverage')];
const percent = (100 * noticed) / (noticed + missed);
console.log(`${noticed} of ${noticed + missed} changes noticed (${percent.toFixed(1)} %)`);
process.exitCode = percent >= LEAST_NOTICED ? 0 : 1;
