// Joins what starts the service into few files, dist/bundle: most of a start is finding and reading some 1,500 of them.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const service = packageOf(root);

/** Files that are found by their names while the service runs, so that they must still be there. */
const FOUND_BY_NAME = /\.(entity|migration)\.js$|^database\/declared-files\.js$|^pages\/page-files\.js$/;

/** Files that pages/page-files.js reads: they lie beside the bundle as they lie in src. */
const STATIC = /(^|\/)static\//;

/**
 * Packages that are joined, with whatever they import. Every other one stays outside, because it may be native, start
 * workers or read files of its own; unless it builds on one of these, which would then be there twice.
 */
const INSIDE = new Set([
  // Packages that build on the service import it by its name: they get what the bundle has, not dist/src beside it.
  service.name,
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/event-emitter',
  '@nestjs/platform-express',
  '@nestjs/swagger',
  '@nestjs/terminus',
  '@nestjs/throttler',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'express',
  'ioredis',
  'lossless-json',
  'prom-client',
  'reflect-metadata',
  'rxjs',
  'typeorm',
]);

/** Joined for tests besides, because they make the application of the service's own Nest. */
const TESTING = '@nestjs/testing';

/** Outside in any case: native, and files to serve. */
const OUTSIDE = new Set(['sqlite3', 'swagger-ui-dist']);

/** Peers of TypeORM are what it loads when a data source asks for it, such as clients of databases. */
const PEERS_OF_TYPEORM = Object.keys(packageOf(join(root, 'node_modules', 'typeorm')).peerDependencies ?? {});

/** What CommonJS packages expect to be there, once for each file. */
const COMMONJS = `
import { createRequire as petstoreCreateRequire } from 'node:module';
import { fileURLToPath as petstoreFileURLToPath } from 'node:url';
const require = petstoreCreateRequire(import.meta.url);
const __filename = petstoreFileURLToPath(import.meta.url);
const __dirname = petstoreFileURLToPath(new URL('.', import.meta.url));
`;

/**
 * Packages of ES modules make a `require` of their own, the same as that of the banner. The bundler keeps the first one's name
 * where no CommonJS package lies in the same file; the second declaration would be a syntax error.
 */
const OWN_REQUIRE = {
  name: 'petstore:own-require',
  renderChunk: (code) => code.replace(/^const require = createRequire\(import\.meta\.url\);$/m, ''),
};

/**
 * What is exported as `src/clock.js` has to be quoted where a dynamic import of another file takes it; the bundler writes it as if it
 * were an identifier.
 */
const QUOTED_NAMES = {
  name: 'petstore:quoted-names',
  renderChunk: (code) => code.replace(/\.then\(\(n\) => n\.(src\/[\w./-]+)\)/g, '.then((n) => n["$1"])'),
};

/**
 * The bundler wraps each module in an arrow function in parentheses, so that it is compiled where it is read. V8 does so only to a
 * `function`: it would read an arrow function twice, and all functions in it.
 */
const COMPILED_AT_ONCE = {
  name: 'petstore:compiled-at-once',
  renderChunk: (code) =>
    code.replace(/\b(__(?:commonJS|esm)Min\(\()(\([\w$, ]*\)) => \{$/gm, '$1function$2 {'),
};

/**
 * One character beyond Latin-1 makes V8 hold a whole file with two bytes a character, and read it more slowly. Escaped it is the same
 * in strings, patterns and names; not in String.raw, where it must not stand. A backslash that is there already is one of an escape.
 */
const ASCII = {
  name: 'petstore:ascii',
  renderChunk(code) {
    if (/\bString\.raw`[^`]*[^`\0-\x7f]/.test(code)) throw new Error('String.raw has more than ASCII.');
    return code.replace(/(\\*)([^\0-\x7f])/g, (_, before, character) => {
      const escape = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
      return before.slice(before.length % 2) + escape;
    });
  },
};

/**
 * Files that require packages by themselves, and what. They would be given others beside the joined ones: a class-transformer that
 * knows nothing of the fields of the service, which `PartialType()` would pass without being read; a second TypeORM.
 */
const REQUIRE_BY_THEMSELVES = [
  {
    file: /@nestjs.mapped-types.dist.type-helpers\.utils\.js$/,
    packages: {
      'class-validator': 'class-validator',
      'class-transformer': 'class-transformer',
      'class-transformer/cjs/storage': 'class-transformer/cjs/storage.js',
    },
  },
  { file: /@nestjs.typeorm.dist.common.typeorm-compat\.js$/, packages: { typeorm: 'typeorm' } },
];

/** Gives those files the joined packages. */
const GIVEN_JOINED = {
  name: 'petstore:given-joined',
  transform(code, id) {
    const packages = REQUIRE_BY_THEMSELVES.find(({ file }) => file.test(id))?.packages;
    if (!packages) return null;
    const own = 'const require = createRequire(import.meta.url);';
    if (!code.includes(own)) throw new Error(`${id} requires its packages in another way.`);
    const names = Object.keys(packages);
    const imports = names.map(
      (name, at) => `import * as joined${at} from ${JSON.stringify(packages[name])};`,
    );
    const joined = names.map((name, at) => `${JSON.stringify(name)}: joined${at}`);
    // Another name: each file of the bundle has a `require` already, which the bundler does not know of.
    return code
      .replaceAll(/\brequire\(/g, 'requireJoined(')
      .replace(
        own,
        `${imports.join('\n')}\nconst joined = { ${joined.join(', ')} };\nconst requireJoined = (name) => joined[name];`,
      );
  },
};

/**
 * TypeORM's DriverFactory loads the drivers of all its databases, 1.4 MB of code. The service has two of them; any other, for a second
 * database of a module, is required when one is made. TypeORM tells its classes apart by a mark, also those of two copies.
 */
const DRIVERS = new Set(['sqlite', 'postgres']);
const OTHER_DRIVER = '\0other-driver:';
const OTHER_DRIVERS_WHEN_MADE = {
  name: 'petstore:other-drivers-when-made',
  resolveId: {
    order: 'pre',
    handler(id, importer = '') {
      if (!/\btypeorm.driver.DriverFactory\.js$/.test(importer)) return null;
      const [, database, driver] = /^\.\/([\w-]+)\/(\w+)$/.exec(id) ?? [];
      return database === undefined || DRIVERS.has(database) ? null : `${OTHER_DRIVER}${database}/${driver}`;
    },
  },
  load(id) {
    if (!id.startsWith(OTHER_DRIVER)) return null;
    const file = id.slice(OTHER_DRIVER.length);
    const driver = file.slice(file.indexOf('/') + 1);
    return `exports.${driver} = class {
  constructor(dataSource) {
    const { ${driver} } = petstoreCreateRequire(import.meta.url)('typeorm/driver/${file}.js');
    return new ${driver}(dataSource);
  }
};`;
  },
};

/**
 * Large packages that few services ever call: the joined file that uses one, and how it names it. They stay outside, and that file
 * requires them when it calls them. What iconv-lite requires at once is small; its tables of characters it requires when needed.
 */
const CALLED_BY_FEW = [
  { file: /class-validator.cjs.decorator.string.IsPhoneNumber\.js$/, package: 'libphonenumber-js/max' },
  { file: /@nestjs.swagger.dist.swagger-module\.js$/, package: 'js-yaml' },
];
const NOT_JOINED = 'iconv-lite';

/** Has those files require their package in each call: `max_1.parse()` becomes `requireWhenCalled('…').parse()`. */
const REQUIRED_WHEN_CALLED = {
  name: 'petstore:required-when-called',
  transform(code, id) {
    const found = CALLED_BY_FEW.find(({ file }) => file.test(id));
    if (!found || !isFoundFromHere(found.package, id)) return null;
    const [declared, required, imported] =
      new RegExp(
        `^(?:const (\\w+) = require\\(["']${found.package}["']\\)|import \\* as (\\w+) from ["']${found.package}["']);$`,
        'm',
      ).exec(code) ?? [];
    if (declared === undefined) throw new Error(`${id} imports ${found.package} in another way.`);
    const variable = required ?? imported;
    return code
      .replace(declared, 'const requireWhenCalled = petstoreCreateRequire(import.meta.url);')
      .replaceAll(
        new RegExp(`\\b${variable}\\b`, 'g'),
        `requireWhenCalled(${JSON.stringify(found.package)})`,
      );
  },
};

/**
 * Nest's own loggers make a format of dates when they are imported, for which Node.js reads 8 MB of data on languages and zones. The
 * service has a logger of its own; the formats are made when they are first used.
 */
const DATE_FORMAT_WHEN_USED = {
  name: 'petstore:date-format-when-used',
  transform(code, id) {
    if (!/@nestjs.common.services.(?:console-)?logger\.service\.js$/.test(id)) return null;
    const made = /^const dateTimeFormatter = (new Intl\.DateTimeFormat\([^;]*\));$/m;
    if (!made.test(code)) throw new Error(`${id} makes its format of dates in another way.`);
    return code.replace(
      made,
      'let formatOfDates;\nconst dateTimeFormatter = { format: (date) => (formatOfDates ??= $1).format(date) };',
    );
  },
};

/** Whether the bundle finds a package where a joined file finds it, and not another version. */
function isFoundFromHere(name, importer) {
  const from = (file) => createRequire(file).resolve(name);
  try {
    return from(importer) === from(join(root, 'package.json'));
  } catch {
    return false;
  }
}

/** The guides that the service shows as pages: copied to dist/docs, where pages/page-files.ts finds them without the repository. */
const GUIDES = ['using-the-api.md'];

/**
 * Writes `bundle` of a folder such as dist from its `src`: what starts the service, and the command line. Copies the guides that it
 * shows beside it.
 */
export async function bundle(dist = join(root, 'dist')) {
  for (const guide of GUIDES) cpSync(join(root, 'docs', guide), join(dist, 'docs', guide));
  const source = join(dist, 'src');
  await writeBundle(dist, 'bundle', {
    main: join(source, 'main.js'),
    'cli/main': join(source, 'cli', 'main.js'),
  });
}

/** The packages with features for the service that it depends on: those that depend on it, or have it as a peer. */
export const FEATURE_PACKAGES = Object.keys(service.dependencies ?? {}).filter(
  (name) => name !== service.name && neededBy(name).includes(service.name),
);

/** The packages of which dist/bundle-for-tests has its own copy. */
export const PACKAGES_FOR_TESTS = [
  ...[...INSIDE].filter((name) => name !== service.name),
  TESTING,
  ...FEATURE_PACKAGES,
];

/**
 * The file that a suite gets for `petstore-service`, or for what its package.json exports below that name: `src/public.js`;
 * undefined for anything else. Suites run on the source, or on a bundle for tests, where dist/src would be a second service.
 */
export function fileOfService(id) {
  if (id !== service.name && !id.startsWith(`${service.name}/`)) return undefined;
  const below = id.slice(service.name.length + 1);
  const { default: file } = service.exports[below === '' ? '.' : `./${below}`] ?? service.exports['./*'];
  return file.slice('./dist/'.length).replaceAll('*', below);
}

/**
 * Writes dist/bundle-for-tests as the bundle is written: one module that exports every file of dist/src (`src/clock.js`) and
 * every joined package (`rxjs`) by its name, for suites that import them. Answers where that module is.
 */
export async function bundleForTests() {
  const dist = join(root, 'dist');
  const source = join(dist, 'src');
  // Files that start something when they are imported are nothing to test from inside.
  const files = filesOf(source).filter((file) => !/(^|\/)(main|launch)\.js$/.test(file));
  const exported = [
    ...files.map((file) => [`src/${file}`, join(source, file)]),
    ...PACKAGES_FOR_TESTS.map((name) => [name, name]),
  ];
  const text = exported.map(
    ([name, from]) => `export * as ${JSON.stringify(name)} from ${JSON.stringify(from)};`,
  );
  const everything = {
    name: 'petstore:everything',
    resolveId: (id) => (id === 'everything' ? join(root, id) : null),
    load: (id) => (id === join(root, 'everything') ? text.join('\n') : null),
  };
  await writeBundle(dist, 'bundle-for-tests', { everything: 'everything' }, [everything, QUOTED_NAMES]);
  return join(dist, 'bundle-for-tests', 'everything.js');
}

/** Packages that build on the service get what is bundled, not the files of the build before. */
const ownName = (dist) => ({
  name: 'petstore:own-name',
  resolveId(id) {
    const file = fileOfService(id);
    return file === undefined ? null : join(dist, file);
  },
});

/** Writes a bundle to a folder of dist: these entries, and the files that are found by their names. */
async function writeBundle(dist, folder, entries, plugins = []) {
  const source = join(dist, 'src');
  const found = filesOf(source).filter((file) => FOUND_BY_NAME.test(file));
  const bundled = await rolldown({
    input: { ...entries, ...Object.fromEntries(found.map((file) => [nameOf(file), join(source, file)])) },
    platform: 'node',
    external: staysOutside,
    logLevel: 'silent',
    // Both would drop calls that they take for having no effect; one that throws has one, such as decodeURIComponent.
    treeshake: false,
    plugins: [
      ...plugins,
      ownName(dist),
      GIVEN_JOINED,
      REQUIRED_WHEN_CALLED,
      DATE_FORMAT_WHEN_USED,
      OTHER_DRIVERS_WHEN_MADE,
      OWN_REQUIRE,
      COMPILED_AT_ONCE,
      ASCII,
    ],
  });
  const dir = join(dist, folder);
  rmSync(dir, { recursive: true, force: true });
  await bundled.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    banner: COMMONJS,
    // Providers, routes and entities are told apart by the names of their classes.
    keepNames: true,
    minify: false,
    // V8 keeps the text of a file in memory, for as long as one of its functions has not been called.
    comments: { legal: true, annotation: false, jsdoc: false },
    sourcemap: true,
  });
  await bundled.close();
  for (const file of filesBelow(source).filter((name) => STATIC.test(name)))
    cpSync(join(source, file), join(dir, file));
}

/** The modules below a folder; scripts that pages load in a browser are none of the service. */
function filesOf(folder) {
  return filesBelow(folder).filter((file) => file.endsWith('.js') && !STATIC.test(file));
}

/** Every file below a folder, by its path from there, with slashes. */
function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

function nameOf(file) {
  return file.slice(0, -'.js'.length);
}

/** Of what a joined package imports, only what must be outside is; of what the service imports, all but what is listed. */
function staysOutside(id, importer = '') {
  // `#…` are files of the service itself, by `imports` of package.json.
  if (/^[./#]|^node:/.test(id)) return false;
  const name = id.split('/', id.startsWith('@') ? 2 : 1).join('/');
  if (OUTSIDE.has(name)) return true;
  if (name === NOT_JOINED) return isFoundFromHere(name, importer);
  if (/node_modules.typeorm\b/.test(importer) && PEERS_OF_TYPEORM.includes(name)) return true;
  return !importer.includes('node_modules') && !INSIDE.has(name) && !buildsOnWhatIsInside(name);
}

function buildsOnWhatIsInside(name) {
  return neededBy(name).some((needed) => INSIDE.has(needed));
}

/** The packages that an installed one depends on, or has as peers. */
function neededBy(name) {
  const { dependencies, peerDependencies } = packageOf(join(root, 'node_modules', name));
  return Object.keys({ ...dependencies, ...peerDependencies });
}

/** What the package.json of a folder says; nothing where there is none. */
function packageOf(folder) {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundle(process.argv[2] === undefined ? undefined : resolve(process.argv[2]));
