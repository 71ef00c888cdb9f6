// The walls of the house: which folder may import which. `npm run lint` checks them; docs/architecture.md tells why.

/** The platform's folders. Every other folder below src is a feature, so that a new one is walled in at once. */
const PLATFORM =
  'accounts|admin|audit|auth|caching|cli|config|database|deprecation|errors|events|health|http|idempotency|input|logging|metrics|openapi|paging|startup-checks|throttling';

/** What a feature may use of the platform: its decorators, base types and tokens. */
const PUBLIC_SURFACE = [
  'clock',
  'accounts/scopes',
  'auth/(auth\\.decorators|caller)',
  'caching/(response-cache|changes-no-answer\\.decorator)',
  'config/settings',
  'database/(int64|demo-data|json-rows|keyset-page)',
  'deprecation/deprecated\\.decorator',
  'errors/(api-error|api-errors\\.decorator|define-errors)',
  'events/domain-events',
  'idempotency/idempotent\\.decorator',
  'input/(define-field|fields)',
  'metrics/metrics',
  'openapi/operation\\.decorator',
  'paging/pager',
].map((file) => `^src/${file}\\.ts$`);

/** What any folder publishes to all others. */
const PUBLISHED_EVENTS = '^src/[^/]+/[^/]+\\.events\\.ts$';

/** The platform's folders from the bottom to the top; those of one line do not depend on one another's floor. */
const FLOORS = [
  ['metrics', 'events', 'database'],
  ['throttling', 'audit'],
  ['accounts'],
  ['auth'],
  ['logging', 'deprecation'],
  ['http'],
  ['input', 'caching'],
  ['idempotency', 'paging'],
  ['openapi', 'health'],
  ['startup-checks'],
];

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'platform-knows-no-feature',
      comment: 'What a feature owns is declared by it and collected; the platform never imports it.',
      severity: 'error',
      from: {
        path: `^src/(?:(?:${PLATFORM})/|platform\\.module|clock|duration|handler-metadata|request-address|request-slot)`,
        pathNot: '^src/cli/main',
      },
      to: {
        path: '^src/',
        pathNot: `^src/(?:(?:${PLATFORM})/|platform\\.module|clock|duration|handler-metadata|request-address|request-slot)`,
      },
    },
    {
      name: 'features-use-the-public-surface',
      severity: 'error',
      from: { path: `^src/(?!(?:${PLATFORM})/)([^/]+)/` },
      to: { path: '^src/', pathNot: ['^src/$1/', PUBLISHED_EVENTS, ...PUBLIC_SURFACE] },
    },
    {
      name: 'foundations-stand-alone',
      comment:
        'clock, duration, handler-metadata, request-address, request-slot, config and errors are what everything else stands on.',
      severity: 'error',
      from: { path: '^src/(clock|duration|handler-metadata|request-address|request-slot|config/|errors/)' },
      to: {
        path: '^src/',
        pathNot: '^src/(clock|duration|handler-metadata|request-address|request-slot|config/|errors/)',
      },
    },
    ...FLOORS.flatMap((floor, at) => {
      const above = FLOORS.slice(at + 1).flat();
      return above.length === 0
        ? []
        : [
            {
              name: `${floor.join('-')}-know-no-higher`,
              comment: 'Imports run down the floors listed above, never up.',
              severity: 'error',
              from: { path: `^src/(${floor.join('|')})/` },
              to: { path: `^src/(${above.join('|')})/` },
            },
          ];
    }),
    {
      name: 'only-faces-know-administration',
      comment: 'admin and cli are two faces of the same services; cli shows what admin shows.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(admin/|cli/|app\\.module)' },
      to: { path: '^src/(admin|cli)/', pathNot: '^src/cli/main' },
    },
    {
      name: 'tests-stay-outside',
      comment: 'Suites beside the code may use the kit of those in test/.',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench|examples)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
