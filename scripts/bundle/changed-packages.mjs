// What is changed in the code of packages that are joined, so that a start loads and compiles less of it.
import { isFoundFromHere } from './packages.mjs';

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
 * requires them when it calls them.
 */
const CALLED_BY_FEW = [
  { file: /@nestjs.platform-express.multer.interceptors.[\w-]+\.interceptor\.js$/, package: 'multer' },
  { file: /typeorm.util.DirectoryExportedClassesLoader\.js$/, package: 'glob' },
  { file: /typeorm.platform.PlatformTools\.js$/, package: '@sqltools/formatter' },
  { file: /class-validator.cjs.decorator.string.IsPhoneNumber\.js$/, package: 'libphonenumber-js/max' },
  { file: /@nestjs.swagger.dist.swagger-module\.js$/, package: 'js-yaml' },
];

/** How a file imports a package, or requires it, maybe in a call such as `importStar(…)`. */
function declarationOf(name) {
  const imported = String.raw`import (?:\* as (?<namespace>\w+)|(?<called>\w+)) from ["']${name}["']`;
  const required = String.raw`const (?<constant>\w+) = (?<interop>[\w.]+\()?require\(["']${name}["']\)\)?`;
  return new RegExp(`^(?:${imported}|${required});$`, 'm');
}

/**
 * Has those files require their package in each call: `max_1.parse()` becomes `requireWhenCalled('…').parse()`. What
 * a file imports as a default is a function.
 */
const REQUIRED_WHEN_CALLED = {
  name: 'petstore:required-when-called',
  transform(code, id) {
    const found = CALLED_BY_FEW.find(({ file }) => file.test(id));
    if (!found || !isFoundFromHere(found.package, id)) return null;
    const declared = declarationOf(found.package).exec(code);
    if (!declared) throw new Error(`${id} imports ${found.package} in another way.`);
    const { namespace, constant, called, interop = '' } = declared.groups;
    const required = `requireWhenCalled(${JSON.stringify(found.package)})`;
    const makeRequire = 'const requireWhenCalled = petstoreCreateRequire(import.meta.url);';
    if (called !== undefined)
      return code.replace(
        declared[0],
        `${makeRequire}\nconst ${called} = (...values) => ${required}(...values);`,
      );
    return code
      .replace(declared[0], makeRequire)
      .replaceAll(
        new RegExp(`\\b${namespace ?? constant}(?=\\.\\w)`, 'g'),
        interop === '' ? required : `${interop}${required})`,
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

/**
 * Nest asks each list of modules and providers by iterators of iterare, which call each other's next(). V8 compiles them into one
 * another when it optimizes them, which took 8 % of a start's processor time; generators it does not.
 */
const GENERATORS = {
  FilterIterator: `(source, chosen) {
  for (let next = source.next(); !next.done; next = source.next()) if (chosen(next.value)) yield next.value;
}`,
  MapIterator: `(source, changed) {
  for (let next = source.next(); !next.done; next = source.next()) yield changed(next.value);
}`,
};
const ITERATED_BY_GENERATORS = {
  name: 'petstore:iterated-by-generators',
  transform(code, id) {
    if (!/\biterare.lib.(?:filter|map)\.js$/.test(id)) return null;
    const [, name] = /^exports\.(\w+) = \1;$/m.exec(code) ?? [];
    if (GENERATORS[name] === undefined) throw new Error(`${id} exports another iterator.`);
    // A function that is called by `new` returns the object that it returns.
    return `function* generate${GENERATORS[name]}
exports.${name} = function ${name}(source, call) { return generate(source, call); };`;
  },
};

/** All of it, as plugins of the bundler. */
export const CHANGED_PACKAGES = [
  GIVEN_JOINED,
  OTHER_DRIVERS_WHEN_MADE,
  REQUIRED_WHEN_CALLED,
  DATE_FORMAT_WHEN_USED,
  ITERATED_BY_GENERATORS,
];
