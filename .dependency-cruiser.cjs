// Rules for imports between folders. `npm run lint` checks them. docs/architecture.md explains them.

/** The layers of the platform, lowest first. Any other folder in src is a feature, which is above all layers. */
const LAYERS = [
  ['core'],
  ['database'],
  ['events'],
  ['throttling'],
  ['auth'],
  ['http'],
  ['webhooks'],
  ['admin', 'account', 'docs', 'cli'],
  ['start'],
];
/** The layers within folders of the platform, lowest first. Files outside these subfolders, such as http.module.ts, are not checked. */
const INNER_LAYERS = {
  http: [
    ['operations'],
    ['validation'],
    ['body', 'replies', 'paging'],
    ['caching', 'idempotency', 'deprecation'],
    ['chain', 'declarations'],
    ['server'],
  ],
  auth: [['audit'], ['clients'], ['usage']],
};
const PLATFORM = LAYERS.flat().join('|');
const PLATFORM_FILES = `^src/(?:(?:${PLATFORM})/|public\\.ts$)`;

/** The files that assemble the application. */
const APPLICATION = '^src/(?:app\\.module|app\\.setup|main|platform\\.module|root\\.module)\\.ts$';
/** The files in src that start the application, and may therefore import it. */
const STARTS_THE_APPLICATION = '^src/(?:cli/frame/application\\.ts$|start/)';

/** The test kit, `petstore-service/testing`. */
const KIT = '^test/kit/';

/** Files that packages import by the names that package.json exports. */
const EXPORTED = ['^src/public\\.ts$', '^src/app\\.setup\\.ts$', '^test/kit/testing\\.ts$'];

/** The public API of a feature. */
const FEATURE_SURFACE = '^src/(?<feature>[^/]+)/\\k<feature>\\.public\\.ts$';

/** The files of a feature in src. */
const FEATURE = `^src/(?!(?:${PLATFORM})/)([^/]+)/`;
const SPEC = '\\.spec\\.ts$';
/** The files in src that a feature may import. Its test suites may also import the application, as `petstore-service/app`. */
const FOR_FEATURES = ['^src/$1/', FEATURE_SURFACE, '^src/public\\.ts$'];

/** The file that `petstore-service/pets` resolves to in a checkout without src/pets (tsconfig.json). */
const WITHOUT_PETS = '^test/support/pets/pets\\.public\\.ts$';

/** Rules that forbid imports from a higher layer. */
const importNoHigherLayer = (layers, inside = '') =>
  layers.slice(0, -1).map((layer, at) => ({
    name: `${inside.replace('/', '-')}${layer.join('-')}-imports-no-higher-layer`,
    comment: 'A folder must not import from a higher layer (LAYERS in .dependency-cruiser.cjs).',
    severity: 'error',
    from: { path: `^src/${inside}(?:${layer.join('|')})/` },
    to: {
      path: `^src/${inside}(?:${layers
        .slice(at + 1)
        .flat()
        .join('|')})/`,
    },
  }));

module.exports = {
  forbidden: [
    {
      name: 'no-circular-imports',
      comment: 'These files import each other. Move the code that both need to a separate file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...importNoHigherLayer(LAYERS),
    ...Object.entries(INNER_LAYERS).flatMap(([folder, layers]) => importNoHigherLayer(layers, `${folder}/`)),
    {
      name: 'platform-imports-no-feature',
      comment:
        'The platform must not import a feature. Features declare errors, scopes, settings and events, and the platform collects them.',
      severity: 'error',
      from: { path: PLATFORM_FILES, pathNot: STARTS_THE_APPLICATION },
      to: { path: '^src/', pathNot: PLATFORM_FILES },
    },
    {
      name: 'features-import-public-files-only',
      comment:
        'A feature may import petstore-service (src/public.ts) and the <feature>.public.ts of other features. To use something else from ' +
        'another feature, export it in its <feature>.public.ts. Anything else in the platform is internal; request an export from src/public.ts.',
      severity: 'error',
      from: { path: FEATURE, pathNot: SPEC },
      to: { path: '^src/', pathNot: FOR_FEATURES },
    },
    {
      name: 'feature-suites-import-public-files-only',
      comment:
        'In addition to the files that a feature may import, its test suites may import petstore-service/app and petstore-service/testing.',
      severity: 'error',
      from: { path: `${FEATURE}.*${SPEC}` },
      to: { path: '^src/', pathNot: [...FOR_FEATURES, '^src/app\\.setup\\.ts$'] },
    },
    {
      name: 'platform-does-not-import-public-ts',
      comment:
        'src/public.ts is for features. In the platform, import the file itself, to avoid circular imports.',
      severity: 'error',
      from: { path: `^src/(?:${PLATFORM})/` },
      to: { path: '^src/public\\.ts$' },
    },
    {
      name: 'admin-account-docs-cli-are-independent',
      comment:
        'admin, account, docs and cli must not import one another, except docs and the code that administration, self-service and the ' +
        'command line share (admin/audit, admin/commands, admin/dto, admin/keys).',
      severity: 'error',
      from: { path: '^src/(admin|account|docs|cli)/' },
      to: {
        path: '^src/(?:admin|account|docs|cli)/',
        pathNot: ['^src/$1/', '^src/admin/(?:audit|commands|dto|keys)/', '^src/docs/'],
      },
    },
    {
      name: 'docs-do-not-import-admin-account-cli',
      comment: 'docs must not import admin, account or cli: they declare what it documents.',
      severity: 'error',
      from: { path: '^src/docs/' },
      to: { path: '^src/(?:admin|account|cli)/' },
    },
    {
      name: 'only-entry-points-import-the-application',
      comment: 'The application imports everything else, so only the files that start it may import it.',
      severity: 'error',
      from: { path: '^src/', pathNot: [APPLICATION, STARTS_THE_APPLICATION, SPEC] },
      to: { path: APPLICATION },
    },
    {
      name: 'test-kit-imports-no-other-test-code',
      comment: 'test/kit is published as petstore-service/testing, but the rest of test/ is not.',
      severity: 'error',
      from: { path: KIT, pathNot: SPEC },
      to: { path: '^test/', pathNot: KIT },
    },
    {
      name: 'examples-import-exported-files-only',
      comment:
        'Like any package, an example may import petstore-service, petstore-service/app, petstore-service/<feature> and ' +
        'petstore-service/testing. Anything else in the platform is internal; request an export from src/public.ts.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(src|test|bench|scripts)/', pathNot: [...EXPORTED, FEATURE_SURFACE, WITHOUT_PETS] },
    },
    {
      name: 'packages-import-by-name',
      comment: 'Import petstore-service, not ../../src: a package cannot rely on the path of the service.',
      severity: 'error',
      from: { path: ['^examples/', FEATURE] },
      to: { path: EXPORTED, dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'clients-import-own-files-only',
      comment:
        'A client is a separate package that works without the service. It may import its own files and the dependencies in its package.json.',
      severity: 'error',
      from: { path: '^clients/([^/]+)/' },
      to: { pathNot: ['^clients/$1/', '^node_modules/(?:lossless-json|openapi-fetch)/'] },
    },
    {
      name: 'service-imports-no-client',
      comment:
        'Clients are generated from the OpenAPI documents of the service. The service must not depend on them.',
      severity: 'error',
      from: { path: '^(src|examples|bench)/' },
      to: { path: '^clients/' },
    },
    {
      name: 'production-code-imports-no-tests',
      comment: 'Only test suites (*.spec.ts) may import test support code. Production code may not.',
      severity: 'error',
      from: { path: '^src/', pathNot: SPEC },
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
