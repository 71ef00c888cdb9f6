// The walls of the house: which folder may import which. `npm run lint` checks them; docs/architecture.md draws them.

/** The platform's folders by floors, from the bottom to the top. Any other folder below src is a feature, and stands on all of them. */
const FLOORS = [
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
/** The floors inside a folder of the platform; what lies in none of these folders, such as http.module.ts, is not checked. */
const FLOORS_INSIDE = {
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
const PLATFORM = FLOORS.flat().join('|');
const PLATFORM_FILES = `^src/(?:(?:${PLATFORM})/|public\\.ts$)`;

/** What makes the whole application; only what starts one imports it: main, the command line, and the test kit. */
const APPLICATION = '^src/(?:app\\.module|app\\.setup|main|platform\\.module|root\\.module)\\.ts$';
const STARTS_THE_APPLICATION = '^src/(?:cli/frame/application\\.ts$|start/)';

/** The test kit, `petstore-service/testing`. */
const KIT = '^test/kit/';

/** What packages import, by the names that package.json exports. */
const EXPORTED = ['^src/public\\.ts$', '^src/app\\.setup\\.ts$', '^test/kit/testing\\.ts$'];

/** What a feature shows to other features. */
const FEATURE_SURFACE = '^src/(?<feature>[^/]+)/\\k<feature>\\.public\\.ts$';

/** A feature of a checkout. */
const FEATURE = `^src/(?!(?:${PLATFORM})/)([^/]+)/`;
const SPEC = '\\.spec\\.ts$';
/** What a feature may import below src; its suites also import the application, `petstore-service/app`. */
const FOR_FEATURES = ['^src/$1/', FEATURE_SURFACE, '^src/public\\.ts$'];

/** What `petstore-service/pets` is in a checkout that has removed src/pets (tsconfig.json). */
const WITHOUT_PETS = '^test/support/pets/pets\\.public\\.ts$';

/** The rules that the folders of one floor import none of a higher floor. */
const knowNoHigher = (floors, inside = '') =>
  floors.slice(0, -1).map((floor, at) => ({
    name: `${inside.replace('/', '-')}${floor.join('-')}-knows-no-higher`,
    comment: 'Imports run down the floors listed above, never up.',
    severity: 'error',
    from: { path: `^src/${inside}(?:${floor.join('|')})/` },
    to: {
      path: `^src/${inside}(?:${floors
        .slice(at + 1)
        .flat()
        .join('|')})/`,
    },
  }));

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files that import each other in a circle: move what both need to a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...knowNoHigher(FLOORS),
    ...Object.entries(FLOORS_INSIDE).flatMap(([folder, floors]) => knowNoHigher(floors, `${folder}/`)),
    {
      name: 'platform-knows-no-feature',
      comment: 'What a feature owns is declared by it and collected; the platform never imports it.',
      severity: 'error',
      from: { path: PLATFORM_FILES, pathNot: STARTS_THE_APPLICATION },
      to: { path: '^src/', pathNot: PLATFORM_FILES },
    },
    {
      name: 'features-import-the-service-by-name',
      comment:
        'A feature imports petstore-service (src/public.ts), as packages do, and of another feature its <feature>.public.ts. For ' +
        'more of another feature: export it there. For more of the platform: it is inside; ask for it in src/public.ts.',
      severity: 'error',
      from: { path: FEATURE, pathNot: SPEC },
      to: { path: '^src/', pathNot: FOR_FEATURES },
    },
    {
      name: 'suites-of-features-import-the-service-by-name',
      comment:
        'Beside what a feature imports, its suites import petstore-service/app and petstore-service/testing.',
      severity: 'error',
      from: { path: `${FEATURE}.*${SPEC}` },
      to: { path: '^src/', pathNot: [...FOR_FEATURES, '^src/app\\.setup\\.ts$'] },
    },
    {
      name: 'the-service-by-name-is-for-features',
      comment: 'The platform imports files, not its own public surface, which would be a circle.',
      severity: 'error',
      from: { path: `^src/(?:${PLATFORM})/` },
      to: { path: '^src/public\\.ts$' },
    },
    {
      name: 'admin-account-docs-cli-stand-alone',
      comment:
        'admin, account, docs and cli do not know one another, but for what operators and key holders see alike (admin/audit, admin/commands, admin/dto, admin/keys), ' +
        'the page kit (docs/pages), and the documents that the command line writes.',
      severity: 'error',
      from: { path: '^src/(admin|account|docs|cli)/' },
      to: {
        path: '^src/(?:admin|account|docs|cli)/',
        pathNot: ['^src/$1/', '^src/admin/(?:audit|commands|dto|keys)/', '^src/docs/'],
      },
    },
    {
      name: 'docs-import-nothing-that-they-describe',
      comment: 'docs describes what others declare.',
      severity: 'error',
      from: { path: '^src/docs/' },
      to: { path: '^src/(?:admin|account|cli)/' },
    },
    {
      name: 'application-is-the-top',
      comment: 'What makes the application imports everything; what it imports must not import it.',
      severity: 'error',
      from: { path: '^src/', pathNot: [APPLICATION, STARTS_THE_APPLICATION, SPEC] },
      to: { path: APPLICATION },
    },
    {
      name: 'kit-stands-alone',
      comment: 'test/kit is packed as petstore-service/testing; suites and their support are not.',
      severity: 'error',
      from: { path: KIT, pathNot: SPEC },
      to: { path: '^test/', pathNot: KIT },
    },
    {
      name: 'examples-are-packages',
      comment:
        'An example imports what any package may: petstore-service, petstore-service/<feature> and petstore-service/testing. For ' +
        'more of the platform: it is inside; ask for it in src/public.ts.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(src|test|bench|scripts)/', pathNot: [...EXPORTED, FEATURE_SURFACE, WITHOUT_PETS] },
    },
    {
      name: 'packages-import-by-name',
      comment: 'A package has no path to the files of the service: import petstore-service, not ../../src.',
      severity: 'error',
      from: { path: ['^examples/', FEATURE] },
      to: { path: EXPORTED, dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'clients-stand-alone',
      comment:
        'A client is a package of its own, for who has nothing of the service: it imports its own files, and the packages that its package.json names.',
      severity: 'error',
      from: { path: '^clients/([^/]+)/' },
      to: { pathNot: ['^clients/$1/', '^node_modules/(?:lossless-json|openapi-fetch)/'] },
    },
    {
      name: 'service-knows-no-client',
      comment: 'Clients are made from the documents of the service. Nothing of the service needs one.',
      severity: 'error',
      from: { path: '^(src|examples|bench)/' },
      to: { path: '^clients/' },
    },
    {
      name: 'tests-stay-outside',
      comment: 'Suites beside the code (*.spec.ts) may use test/support; what runs in production may not.',
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
