/**
 * What `npm run test:mutation` changes, and the suites that must notice it. Every part lists suites that start no process and
 * take seconds, because each change is tried on all of them that reach it.
 *
 * Left out are declarations (entities, migrations, modules, error rows, types, decorators: what they say is held by the
 * documents, the schema and the wiring, which other suites compare) and what of src/throttling/redis is the connection or a script,
 * whose suites need a server and minutes.
 *
 * @type {readonly { name: string, mutate: readonly string[], suites: readonly string[] }[]}
 */
export const PARTS = [
  {
    name: 'decisions',
    mutate: [
      'src/throttling/bans.ts',
      'src/throttling/quota.ts',
      'src/throttling/quota-headers.ts',
      'src/throttling/quota-store.ts',
      'src/core/time/clock.ts',
      'src/throttling/memory/current-counts.ts',
      'src/throttling/memory/memory-quota-store.ts',
      'src/throttling/memory/quota-journal.ts',
    ],
    suites: [
      'src/core/time/clock.spec.ts',
      'src/throttling/*.spec.ts',
      'src/throttling/memory/*.spec.ts',
      'test/api/quota-stores.spec.ts',
    ],
  },
  {
    name: 'journal',
    mutate: [
      'src/auth/clients/deprecated-calls.service.ts',
      'src/database/write-behind.ts',
      'src/throttling/memory/database-quota-journal.ts',
      'src/throttling/memory/quota-write-behind.ts',
    ],
    suites: [
      'src/auth/clients/deprecated-calls.service.spec.ts',
      'src/database/write-behind.spec.ts',
      'src/throttling/memory/database-quota-journal.spec.ts',
      'src/throttling/memory/quota-write-behind.spec.ts',
    ],
  },
  {
    name: 'redis',
    mutate: [
      'src/throttling/redis/redis-commands.ts',
      'src/throttling/redis/handover.ts',
      'src/throttling/redis/instance-count.ts',
      'src/throttling/redis/known-counts.ts',
      'src/throttling/redis/redis-keys.ts',
      'src/throttling/redis/redis-state.ts',
    ],
    suites: ['src/throttling/redis/*.spec.ts'],
  },
  {
    name: 'keys',
    mutate: [
      'src/auth/api-key.guard.ts',
      'src/auth/clients/api-key.format.ts',
      'src/auth/clients/scopes.ts',
      'src/auth/clients/key-rules.ts',
      'src/auth/key-cache.ts',
      'src/auth/clients/client.entity.ts',
    ],
    suites: ['src/auth/clients/*.spec.ts', 'src/auth/*.spec.ts'],
  },
  {
    name: 'credentials',
    mutate: [
      'src/auth/api-key.guard.ts',
      'src/auth/api-key.verifier.ts',
      'src/auth/caller.ts',
      'src/auth/key-look-up.ts',
    ],
    suites: ['test/api/authentication.spec.ts', 'test/postgres/key-look-up.spec.ts'],
  },
  {
    name: 'guards',
    mutate: [
      'src/auth/scopes.guard.ts',
      'src/throttling/plans.ts',
      'src/throttling/quota-subject.ts',
      'src/throttling/quota.guard.ts',
      'src/throttling/quota.service.ts',
    ],
    suites: [
      'src/auth/scopes.guard.spec.ts',
      'src/throttling/plans.spec.ts',
      'src/throttling/quota-subject.spec.ts',
      'src/throttling/quota.guard.spec.ts',
      'src/throttling/quota.service.spec.ts',
    ],
  },
  {
    name: 'accounts',
    mutate: [
      'src/auth/clients/api-keys.service.ts',
      'src/auth/clients/audited-changes.ts',
      'src/auth/clients/clients.service.ts',
      'src/auth/clients/key-rules.ts',
      'src/auth/clients/key-issuing.service.ts',
      'src/auth/clients/key-use.service.ts',
      'src/auth/clients/audited-changes.ts',
      'src/auth/clients/usage.service.ts',
    ],
    suites: [
      'src/auth/clients/api-keys.service.spec.ts',
      'src/auth/clients/clients.service.spec.ts',
      'src/auth/clients/key-issuing.service.spec.ts',
      'src/auth/clients/key-rules.spec.ts',
      'src/auth/clients/key-use.service.spec.ts',
      'src/auth/clients/usage.service.spec.ts',
    ],
  },
  {
    name: 'data version',
    mutate: [
      'src/database/data-version.ts',
      'src/database/cache-neutral-writes.ts',
      'src/database/sqlite/wal-data-version.ts',
      'src/database/sqlite/wal-index.ts',
    ],
    suites: [
      'src/database/*.spec.ts',
      'src/database/sqlite/wal-data-version.spec.ts',
      'src/http/caching/response-cache.spec.ts',
      'test/api/data-version.spec.ts',
    ],
  },
];
