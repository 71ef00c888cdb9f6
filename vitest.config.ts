import { configDefaults, defineConfig, type UserProjectConfigExport } from 'vitest/config';
import { onSource } from './test/support/on-source.js';

/** A set of suites: those of these folders. */
function project(
  name: string,
  folders: readonly string[],
  more: { exclude?: readonly string[]; globalSetup?: string; env?: Record<string, string> } = {},
): UserProjectConfigExport {
  const { exclude = [], globalSetup = 'test/support/build.ts', env = {} } = more;
  return {
    plugins: [onSource()],
    test: {
      name,
      include: folders.map((folder) => `${folder}/**/*.spec.ts`),
      exclude: [...configDefaults.exclude, ...exclude],
      globalSetup,
      // Importing Nest and TypeORM takes longer than most suites: once for each worker (see restore.ts).
      isolate: false,
      setupFiles: 'test/support/restore.ts',
      env,
      // For what hangs: no test may fail because the machine is slow. A call of the command line takes over 20 s at load 30.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 120_000 } },
    },
  };
}

/** The suites on PostgreSQL. */
const ON_POSTGRES = {
  globalSetup: 'test/support/postgres-template.ts',
  env: { PETSTORE_TEST_DATABASE: 'postgres' },
};
const ALONE = 'test/postgres/alone/**';
const SMOKE = 'test/processes/smoke';

/**
 * The suites, by their folders: what a suite needs tells where it is. `npm test` runs the first set, `.ci/run` the first three, and
 * `npm run test:whole` all. Each set has workers of its own, which import the service once.
 */
const PROJECTS = [
  project('quick', ['src', 'test/kit', 'test/api', 'examples', 'test/postgres', SMOKE], { exclude: [ALONE] }),
  project('postgres', ['test/postgres', 'src/pets'], ON_POSTGRES),
  project('servers', ['test/processes', 'test/browser', 'test/packed'], {
    exclude: [`${SMOKE}/**`],
    globalSetup: 'test/support/build-with-catalogue.ts',
  }),
  project('whole', ['test/whole'], { globalSetup: 'test/support/build-with-catalogue.ts' }),
  // Only where it is asked for: a suite that is named without a project needs no PostgreSQL server.
  ...(process.env['PETSTORE_TEST_WHOLE'] === undefined
    ? []
    : [
        project('api-postgres', ['src', 'test/api', 'examples'], {
          exclude: ['test/api/sqlite/**'],
          ...ON_POSTGRES,
        }),
      ]),
];

// Two more than two cores: many suites wait for processes of theirs, or for a timeout.
export default defineConfig({
  test: { maxWorkers: 4, projects: PROJECTS, experimental: { fsModuleCache: true } },
});
