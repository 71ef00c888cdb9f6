import type { Plugin } from 'vitest/config';
import { defineConfig } from 'vitest/config';
import { onSource } from './test/support/on-source.js';

/** The suites that `npm run test:mutation` runs against each mutant: unit tests, and tests over HTTP in a single process. */
export default defineConfig({
  plugins: [onSource(), inChildProcesses()],
  test: {
    include: [
      'src/{auth,throttling,http/validation}/**/*.spec.ts',
      'test/api/{account,administration,audit,authentication,bans,clock-steps,ended-key,key-*,last-admin-key,startup-checks}.spec.ts',
      'test/processes/two-instances-redis.spec.ts',
      'test/api/{new-scopes,other-credentials,overload,quota*,rate-limit-headers,refusals,route-limits,web-sockets,webhook-events,webhook-limits}.spec.ts',
      'test/api/{json-bodies,nest-words,required-fields,uploads,wrong-kinds,declared-*}.spec.ts',
      'test/api/pets/*.spec.ts',
      'test/postgres/{client-requests,filters,int64,quota-journal,retention,usage}.spec.ts',
    ],
    isolate: false,
    setupFiles: 'test/support/restore.ts',
    testTimeout: 60_000,
  },
});

/** Runs the suites in child processes: a thread that StrykerJS ends within a call of SQLite would end the whole run. */
function inChildProcesses(): Plugin {
  return {
    name: 'in-child-processes',
    configureVitest: ({ project }) => {
      project.config.pool = 'forks';
    },
  };
}
