// The walls of the house: which folder may import which. `npm run lint` checks them; docs/architecture.md tells why.

/** The platform's folders. Every other folder below src is a feature, so that a new one is walled in at once. */
const PLATFORM =
  'admin|audit|auth|cli|config|database|errors|events|health|http|logging|metrics|openapi|throttling';

/** What a feature may use of the platform: its decorators, base types and tokens. */
const PUBLIC_SURFACE = [
  'clock',
  'auth/(auth\\.decorators|caller|scopes)',
  'config/settings',
  'database/(int64|demo-data|json-rows|json-text|page|unit-of-work)',
  'errors/(api-error|api-errors\\.decorator|define-errors)',
  'http/deprecation/deprecated\\.decorator',
  'events/domain-events',
  'http/answers/remembered\\.decorator',
  'http/idempotency/(current-unit|idempotent\\.decorator)',
  'http/paging/(pager|page\\.query)',
  'http/properties/[^/]+',
  'metrics/metrics',
  'openapi/(operation|tag)\\.decorator',
].map((file) => `^src/${file}\\.ts$`);

module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'platform-knows-no-feature',
      comment: 'What a feature owns is declared by it and collected; the platform never imports it.',
      severity: 'error',
      from: {
        path: `^src/(?:(?:${PLATFORM})/|platform\\.module|clock|duration|handler-metadata|request-address)`,
        pathNot: '^src/cli/with-app',
      },
      to: {
        path: '^src/',
        pathNot: `^src/(?:(?:${PLATFORM})/|platform\\.module|clock|duration|handler-metadata|request-address)`,
      },
    },
    {
      name: 'features-use-the-public-surface',
      severity: 'error',
      from: { path: `^src/(?!(?:${PLATFORM})/)([^/]+)/` },
      to: { path: '^src/', pathNot: ['^src/$1/', ...PUBLIC_SURFACE] },
    },
    {
      name: 'foundations-stand-alone',
      comment:
        'clock, duration, handler-metadata, request-address, config and errors are what everything else stands on.',
      severity: 'error',
      from: { path: '^src/(clock|duration|handler-metadata|request-address|config/|errors/)' },
      to: {
        path: '^src/',
        pathNot: '^src/(clock|duration|handler-metadata|request-address|config/|errors/)',
      },
    },
    {
      name: 'lower-platform-knows-no-higher',
      comment: 'metrics, events < database < throttling, audit < auth < logging < http < openapi < admin',
      severity: 'error',
      from: { path: '^src/(metrics|events|database)/' },
      to: { path: '^src/(throttling|audit|auth|http|openapi|health|logging|admin)/' },
    },
    {
      name: 'throttling-and-audit-know-no-auth',
      severity: 'error',
      from: { path: '^src/(throttling|audit)/' },
      to: { path: '^src/(auth|http|openapi|health|logging|admin)/' },
    },
    {
      name: 'auth-knows-no-http',
      severity: 'error',
      from: { path: '^src/auth/' },
      to: { path: '^src/(http|openapi|health|logging|admin)/' },
    },
    {
      name: 'logging-knows-no-http',
      severity: 'error',
      from: { path: '^src/logging/' },
      to: { path: '^src/(http|openapi|health|admin)/' },
    },
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
