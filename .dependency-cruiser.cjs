// The walls of the house: which folder may import which. `npm run lint` checks them; docs/architecture.md tells why.
const fs = require('node:fs');
const path = require('node:path');

/** The platform's folders. Every other folder below src is a feature, so that a new one is walled in at once. */
const PLATFORM =
  'account|accounts|admin|audit|auth|caching|cli|config|console|database|deprecation|errors|events|faces|health|http|idempotency|input|jobs|logging|metrics|openapi|pages|paging|startup-checks|throttling|tracing|webhooks|workers';

/** Those folders, and the platform's files beside them. */
const PLATFORM_FILES = `^src/(?:(?:${PLATFORM})/|platform\\.module|public|one-copy|clock|compile-cache|declaration-faults|duration|ended-together|handler-metadata|heap|import-failure|public-prefix|request-address|request-origin|request-protocol|request-slot|software-version|transient-map)`;

/**
 * What a feature may use of the platform: the files that src/public.ts names. That list serves packages too, so there is no
 * second one.
 */
const PUBLIC_SURFACE = [
  ...fs.readFileSync(path.join(__dirname, 'src/public.ts'), 'utf8').matchAll(/ from '\.\/(.+)\.js';/g),
].map(([, file]) => `^src/${file.replaceAll('.', '\\.')}\\.ts$`);

/** The test kit. */
const KIT = '^src/testing/';

/** What packages import, by the names that package.json exports. */
const EXPORTED = ['^src/public\\.ts$', '^src/testing/testing\\.ts$'];

/** What a feature shows to other features. */
const FEATURE_SURFACE = '^src/(?<feature>[^/]+)/\\k<feature>\\.public\\.ts$';

/** The platform's folders from the bottom to the top; those of one line do not depend on one another's floor. */
const FLOORS = [
  ['tracing'],
  ['metrics', 'events', 'jobs', 'database'],
  ['throttling', 'audit'],
  ['accounts'],
  ['webhooks'],
  ['auth'],
  ['logging', 'deprecation'],
  ['http'],
  ['input', 'caching'],
  ['idempotency', 'paging', 'pages'],
  ['openapi', 'health', 'console'],
  ['startup-checks'],
  ['workers'],
];

module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files that import each other in a circle: move what both need to a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'platform-knows-no-feature',
      comment: 'What a feature owns is declared by it and collected; the platform never imports it.',
      severity: 'error',
      from: {
        path: PLATFORM_FILES,
        pathNot: '^src/cli/application',
      },
      to: {
        path: '^src/',
        pathNot: [PLATFORM_FILES, KIT],
      },
    },
    {
      name: 'features-use-the-public-surface',
      comment:
        'A feature may import the files of the platform that src/public.ts names, and of another feature its ' +
        '<feature>.public.ts (src/pets/pets.public.ts). For more of another feature: export it there. For more of the ' +
        'platform: it is inside; ask for it in src/public.ts.',
      severity: 'error',
      from: { path: `^src/(?!(?:${PLATFORM}|testing)/)([^/]+)/` },
      to: { path: '^src/', pathNot: ['^src/$1/', KIT, FEATURE_SURFACE, ...PUBLIC_SURFACE] },
    },
    {
      name: 'foundations-stand-alone',
      comment:
        'clock, declaration-faults, duration, ended-together, handler-metadata, import-failure, public-prefix, request-address, request-origin, request-protocol, request-slot, software-version, transient-map, ' +
        'config and errors are what everything else stands on.',
      severity: 'error',
      from: {
        path: '^src/(clock|declaration-faults|duration|ended-together|handler-metadata|import-failure|public-prefix|request-address|request-origin|request-protocol|request-slot|software-version|transient-map|config/|errors/)',
      },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(clock|declaration-faults|duration|ended-together|handler-metadata|import-failure|public-prefix|request-address|request-origin|request-protocol|request-slot|software-version|transient-map|config/|errors/)',
          KIT,
        ],
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
      comment:
        'admin, account and cli are three faces of the same services; they show what faces/ describes.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(account/|admin/|cli/|faces/|app\\.module)' },
      to: { path: '^src/(account|admin|cli|faces)/', pathNot: '^src/cli/main' },
    },
    {
      name: 'faces-stand-alone',
      comment:
        'What two faces need is in faces/, which knows none of them; admin and account know no other face.',
      severity: 'error',
      from: { path: '^src/(account|admin|faces)/' },
      to: { path: '^src/(account|admin|cli)/', pathNot: '^src/$1/' },
    },
    {
      name: 'kit-is-for-tests',
      comment:
        'src/testing makes a service for suites (*.spec.ts). What runs in production must not import it.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/testing/', '\\.spec\\.ts$'] },
      to: { path: KIT },
    },
    {
      name: 'examples-are-packages',
      comment:
        'An example imports what any package may: petstore-service, petstore-service/<feature> and petstore-service/testing. For ' +
        'more of the platform: it is inside; ask for it in src/public.ts.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(src|test|bench|scripts)/', pathNot: [...EXPORTED, FEATURE_SURFACE] },
    },
    {
      name: 'examples-import-by-name',
      comment: 'A package has no path to the files of the service: import petstore-service, not ../../src.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^src/', dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'clients-stand-alone',
      comment:
        'A client is a package of its own, for who has nothing of the service: it imports its own files alone, and no package.',
      severity: 'error',
      from: { path: '^clients/([^/]+)/' },
      to: { pathNot: '^clients/$1/' },
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
