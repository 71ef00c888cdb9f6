import { configDefaults, defineConfig, type UserProjectConfigExport } from 'vitest/config';
import { onSource } from './test/support/on-source.js';

/** A project with the test suites in the given folders. */
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
      // Importing Nest and TypeORM takes longer than most suites, so each worker imports them only once (see restore.ts).
      isolate: false,
      setupFiles: 'test/support/restore.ts',
      env,
      // Long enough that only a hanging test times out. On a machine with a load average of 30, a command takes over 20 s.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 120_000 } },
    },
  };
}

/** Options of the projects that run on PostgreSQL. */
const ON_POSTGRES = {
  globalSetup: 'test/support/postgres-template.ts',
  env: { PETSTORE_TEST_DATABASE: 'postgres' },
};
const ALONE = 'test/postgres/alone/**';
const SMOKE = 'test/processes/smoke';

/**
 * The folder of a suite depends on what the suite requires. `npm test` runs the first project, `.ci/run` runs the first three, and
 * `npm run test:whole` runs all of them. Each project has separate workers.
 */
const PROJECTS = [
  project('quick', ['src', 'test/kit', 'test/api', 'examples', 'test/postgres', SMOKE], { exclude: [ALONE] }),
  project('postgres', ['test/postgres', 'src/pets'], ON_POSTGRES),
  project('servers', ['test/processes', 'test/browser', 'test/packed'], {
    exclude: [`${SMOKE}/**`],
    globalSetup: 'test/support/build-with-catalogue.ts',
  }),
  project('whole', ['test/whole'], { globalSetup: 'test/support/build-with-catalogue.ts' }),
  // Only on request, so that running one of these suites by name does not require a PostgreSQL server.
  ...(process.env['PETSTORE_TEST_WHOLE'] === undefined
    ? []
    : [
        project('api-postgres', ['src', 'test/api', 'examples'], {
          exclude: ['test/api/sqlite/**'],
          ...ON_POSTGRES,
        }),
      ]),
];

// Four workers for two cores, because many suites wait for child processes or timeouts.
export default defineConfig({
  test: { maxWorkers: 4, projects: PROJECTS, experimental: { fsModuleCache: true } },
});
