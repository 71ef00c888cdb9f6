import { defineConfig } from 'vitest/config';
import { onSource } from './test/support/on-source.js';

/** What each change of `npm run test:mutation` is tried with: the suites beside the sources, which need no build and no server. */
export default defineConfig({
  plugins: [onSource()],
  test: { include: ['src/**/*.spec.ts'], setupFiles: 'test/support/restore.ts', testTimeout: 60_000 },
});
