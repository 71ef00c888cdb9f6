// The walls of the house: which folder may import which. `npm run lint` checks them; docs/architecture.md tells why.

/** The platform's folders. Every other folder below src is a feature, so that a new one is walled in at once. */
const PLATFORM = 'auth|cli|config|database|errors|health|http|logging|metrics|openapi|throttling';

/** What a feature may use of the platform: its decorators, base types and tokens. */
const PUBLIC_SURFACE = [
  'clock',
  'auth/(auth\\.decorators|caller|scopes)',
  'config/settings',
  'database/(int64|demo-data)',
  'errors/(api-error|api-errors\\.decorator|define-errors)',
  'http/deprecation/deprecated\\.decorator',
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
      from: { path: `^src/(?:(?:${PLATFORM})/|platform\\.module|clock)`, pathNot: '^src/cli/with-app' },
      to: { path: '^src/', pathNot: `^src/(?:(?:${PLATFORM})/|platform\\.module|clock)` },
    },
    {
      name: 'features-use-the-public-surface',
      severity: 'error',
      from: { path: `^src/(?!(?:${PLATFORM})/)([^/]+)/` },
      to: { path: '^src/', pathNot: ['^src/$1/', ...PUBLIC_SURFACE] },
    },
    {
      name: 'foundations-stand-alone',
      comment: 'clock, config and errors are what everything else stands on.',
      severity: 'error',
      from: { path: '^src/(clock|config/|errors/)' },
      to: { path: '^src/', pathNot: '^src/(clock|config/|errors/)' },
    },
    {
      name: 'lower-platform-knows-no-higher',
      comment: 'metrics < database < throttling < auth < http < openapi',
      severity: 'error',
      from: { path: '^src/(metrics|database)/' },
      to: { path: '^src/(throttling|auth|http|openapi|health|logging)/' },
    },
    {
      name: 'throttling-knows-no-auth',
      severity: 'error',
      from: { path: '^src/throttling/' },
      to: { path: '^src/(auth|http|openapi|health|logging)/' },
    },
    {
      name: 'auth-knows-no-http',
      severity: 'error',
      from: { path: '^src/auth/' },
      to: { path: '^src/(http|openapi|health|logging)/' },
    },
    {
      name: 'tests-stay-outside',
      severity: 'error',
      from: { path: '^src/' },
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
