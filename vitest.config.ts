import { existsSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { configDefaults, defineConfig, type UserProjectConfigExport } from 'vitest/config';
import { FEATURE_PACKAGES } from './scripts/bundle.mjs';
import { onBundle } from './test/support/on-bundle.js';
import { onSource } from './test/support/on-source.js';

/**
 * Suites that start the bundle as a process, ask nothing of the service, or ask what others ask of the bundle in short; and those
 * of pieces that the bundle has together with all others: its features have declared their scopes.
 */
const THE_SAME_ON_THE_BUNDLE = [
  'src/accounts/api-keys.service.spec.ts',
  'src/accounts/key-issuing.service.spec.ts',
  'src/accounts/key-rules.spec.ts',
  'src/auth/scopes.guard.spec.ts',
  'src/accounts/scopes.spec.ts',
  'src/cli/generate/feature-plan.spec.ts',
  'src/cli/generate/field-words.spec.ts',
  'src/cli/generate/migration-text.spec.ts',
  'src/cli/generate/module-texts.spec.ts',
  'src/database/sqlite/troubles/database-troubles.spec.ts',
  'src/request-address.spec.ts',
  'src/throttling/quota.guard.spec.ts',
  'test/adoptions-example.spec.ts',
  'test/backup-drill.spec.ts',
  'test/backup-refusals.spec.ts',
  'test/build.spec.ts',
  'test/bundle.spec.ts',
  'test/command-line-completion.spec.ts',
  'test/command-line-output.spec.ts',
  'test/command-line-questions.spec.ts',
  'test/command-line-start.spec.ts',
  'test/command-line.spec.ts',
  'test/compile-cache.spec.ts',
  'test/database-copy-process.spec.ts',
  'test/database-copy-refusals.spec.ts',
  'test/database-copy-source.spec.ts',
  'test/database-copy.spec.ts',
  'test/database-files.spec.ts',
  'test/declaration-faults.spec.ts',
  'test/extending.spec.ts',
  'test/failing-disk.spec.ts',
  'test/first-start.spec.ts',
  'test/hostile-clients.spec.ts',
  'test/first-probe.spec.ts',
  'test/generated-feature.spec.ts',
  'test/guides.spec.ts',
  'test/house.spec.ts',
  'test/idempotency-crash.spec.ts',
  'test/key-leak-drill.spec.ts',
  'test/log-troubles.spec.ts',
  'test/logs.spec.ts',
  'test/module-packages.spec.ts',
  'test/monitoring.spec.ts',
  'test/dependency-insides.spec.ts',
  'test/nginx.spec.ts',
  'test/one-redis.spec.ts',
  'test/operations-guide.spec.ts',
  'test/openapi-rules.spec.ts',
  'test/ordinary-interceptors.spec.ts',
  'test/ormconfig.spec.ts',
  'test/outbox-crash.spec.ts',
  'test/packed.spec.ts',
  'test/postgres-connections.spec.ts',
  'test/postgres-disk.spec.ts',
  'test/postgres-failover.spec.ts',
  'test/postgres-faults.spec.ts',
  'test/postgres-instances.spec.ts',
  'test/postgres-waits.spec.ts',
  'test/real-clock-steps.spec.ts',
  'test/secrets.spec.ts',
  'test/quota-persistence.spec.ts',
  'test/deploy.spec.ts',
  'test/doctor.spec.ts',
  'test/redis-access.spec.ts',
  'test/redis-cluster-instances.spec.ts',
  'test/redis-cluster.spec.ts',
  'test/redis-faults.spec.ts',
  'test/redis-outages.spec.ts',
  'test/redis-pauses.spec.ts',
  'test/redis-sentinel.spec.ts',
  'test/rolling-update.spec.ts',
  'test/restore-kills.spec.ts',
  'test/restore-refusals.spec.ts',
  'test/running-server.spec.ts',
  'test/service-process.spec.ts',
  'test/several-processes.spec.ts',
  'test/stopping.spec.ts',
  'test/supported-node.spec.ts',
  'test/torture/torture.spec.ts',
  'test/trace-ids.spec.ts',
  'test/tracing.spec.ts',
  'test/typescript-client-{answers,json,package,platforms,retries}.spec.ts',
  'test/unusable-databases.spec.ts',
  'test/web-concurrency.spec.ts',
  'test/webhook-crash.spec.ts',
  'test/webhook-transport.spec.ts',
  'test/web-sockets.spec.ts',
  'test/webhooks-{copied,restored}.spec.ts',
];

/**
 * Suites of what is SQLite's own (its file, its one writer, its dialect, the changes that its file tells of), that start processes
 * with one, or that ask nothing of the database.
 */
const THE_SAME_ON_POSTGRES = [
  ...THE_SAME_ON_THE_BUNDLE,
  'src/{accounts,auth,caching,cli,config,database,errors,events,health,http,idempotency,input,jobs,logging,metrics,openapi,pages,paging,throttling,tracing,webhooks}/**',
  'src/*.spec.ts',
  'test/{clock-steps,data-version,database-troubles,grouped-inserts,reads-beside-writers,response-cache}.spec.ts',
  'test/{sqlite-transactions,sqlite-troubles,postgres,quota-stores,redis-cluster,redis-failures}.spec.ts',
  'test/{answers-of-other-types,bans,chain-order,compiled-operations,cors,declared-answers,declared-writes}.spec.ts',
  'test/{feature-settings,generated-files,hostile-requests,json-bodies,key-clock,middlewares,openapi-document}.spec.ts',
  'test/{operation-tracing,other-credentials,overload,plan-limits,rate-limit-headers,raw-bodies}.spec.ts',
  'test/{refused-by-the-parser,run-by-nest,server-sent-events,startup-checks,streamed-answers,swagger-ui,console}.spec.ts',
  'test/{console-served,console-troubles,help-links,openapi-rules,pages,pages-browser,refusal-examples,served-document,upgraded-connections,uploads,versions}.spec.ts',
];

/**
 * Packages of this folder that the service depends on, and the example that is a feature of it by now (src/adoptions):
 * their sources, which their suites import, would declare everything a second time.
 */
const INSTALLED = [
  ...FEATURE_PACKAGES.map((name) =>
    relative(import.meta.dirname, realpathSync(join(import.meta.dirname, 'node_modules', name))),
  ).filter((folder) => !folder.startsWith('..') && !folder.startsWith('node_modules')),
  ...['examples/adoptions'].filter(() => existsSync(join(import.meta.dirname, 'src/adoptions'))),
].map((folder) => `${folder}/**`);

/** Node loads the bundle once for a suite, as it does in production. */
const BUNDLE_OUTSIDE = { deps: { external: [/\/dist\/bundle-for-tests\//] } };
const ON_POSTGRES = {
  globalSetup: 'test/support/postgres-template.ts',
  env: { PETSTORE_TEST_DATABASE: 'postgres' },
  exclude: [...configDefaults.exclude, ...THE_SAME_ON_POSTGRES, ...INSTALLED],
};

const suites = {
  include: ['src/**/*.spec.ts', 'test/**/*.spec.ts', 'examples/**/*.spec.ts'],
  globalSetup: 'test/support/build.ts',
  setupFiles: 'test/support/restore.ts',
  // For what hangs: no test may fail because the machine is slow. A call of the command line takes over 20 s at load 30.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};

/**
 * What the suites run on: what they import of src, or what the bundler has made of it, with SQLite or with PostgreSQL. `alone` are
 * those that no run on the bundle has: `alone`, `bundle` and `postgres-bundle` together leave out nothing.
 */
const PROJECTS: Readonly<Record<string, UserProjectConfigExport>> = {
  source: {
    plugins: [onSource()],
    test: {
      ...suites,
      name: 'source',
      exclude: [...configDefaults.exclude, ...INSTALLED],
      // What they import of the service is to be the source that suites import, too.
      server: { deps: { inline: [...FEATURE_PACKAGES] } },
    },
  },
  alone: {
    plugins: [onSource()],
    test: {
      ...suites,
      name: 'alone',
      include: THE_SAME_ON_THE_BUNDLE,
      exclude: [...configDefaults.exclude, ...INSTALLED],
      server: { deps: { inline: [...FEATURE_PACKAGES] } },
    },
  },
  bundle: {
    plugins: [onBundle()],
    test: {
      ...suites,
      name: 'bundle',
      exclude: [...THE_SAME_ON_THE_BUNDLE, ...INSTALLED],
      server: BUNDLE_OUTSIDE,
    },
  },
  postgres: {
    plugins: [onSource()],
    test: {
      ...suites,
      ...ON_POSTGRES,
      name: 'postgres',
      server: { deps: { inline: [...FEATURE_PACKAGES] } },
    },
  },
  'postgres-bundle': {
    plugins: [onBundle()],
    test: {
      ...suites,
      ...ON_POSTGRES,
      name: 'postgres-bundle',
      server: BUNDLE_OUTSIDE,
    },
  },
};

/** `PETSTORE_TEST_ON` names some of them, separated by commas. */
const named =
  process.env.PETSTORE_TEST_ON ?? (process.env.PETSTORE_TEST_DATABASE === 'postgres' ? 'postgres' : 'source');
const projects = named.split(',').map((name) => {
  const project = PROJECTS[name];
  if (!project) throw new Error(`PETSTORE_TEST_ON: ${name} is none of ${Object.keys(PROJECTS).join(', ')}.`);
  return project;
});

// Two more than two cores: many suites wait for processes of theirs, or for a timeout.
export default defineConfig({ test: { maxWorkers: 4, projects } });
