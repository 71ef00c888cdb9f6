import { statSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { defineConfig } from 'vitest/config';
import { onSource } from '../support/on-source.js';

/** Runs small suites first: the first failure ends a trial, and they are the fastest to fail. */
class SmallestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sizeOf = ({ moduleId }: TestSpecification) => statSync(moduleId).size;
    return Promise.resolve(files.toSorted((a, b) => sizeOf(a) - sizeOf(b)));
  }
}

const suites = process.env.PETSTORE_MUTATION_SUITES?.split(',') ?? [];
/**
 * How long a test may take, in milliseconds. Beside the code none takes long: what is not there then will never come, and to
 * see a test fail costs less than to give its process up.
 */
const timeoutMs = suites.every((suite) => suite.startsWith('src/')) ? 5_000 : 60_000;

/** What a change is tried with; which suites, parts.mjs tells. */
export default defineConfig({
  plugins: [onSource()],
  test: {
    include: suites,
    // Suites that need Redis are skipped: the parts that they hold are not changed. Of random walks a few hundred do.
    env: { PETSTORE_TEST_REDIS_URL: 'redis://127.0.0.1:1', PETSTORE_TEST_WALKS: '300' },
    setupFiles: ['test/support/restore.ts', 'test/mutation/setup.ts'],
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    maxWorkers: 1,
    sequence: { sequencer: SmallestFirst },
  },
});
