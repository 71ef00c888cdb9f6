import { createHash } from 'node:crypto';
import { constants, readFileSync, statSync } from 'node:fs';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** The bundle, `dist/bundle`: the bundler copies this file there. */
const FOLDER = dirname(fileURLToPath(import.meta.url));
/** How a file requires a package that it imported as an ES module, before it was bundled. */
const IMPORTED = 'imported:';
/** Length of the SHA-1 at the start of a file of compiled code, in bytes. */
const HASH_LENGTH = 20;
/** The parameters of a file's code: those of CommonJS, and one in place of `import()`, which needs a flag in such a Script. */
const PARAMETERS = 'exports, require, module, __filename, __dirname, importModule';

type Code = (
  exports: object,
  require: (id: string) => unknown,
  module: LoadedFile,
  filename: string,
  folder: string,
  importModule: (id: string | URL, options?: ImportCallOptions) => Promise<unknown>,
) => void;

interface LoadedFile {
  exports: object;
}

/** What an entry of the bundle exports. */
interface Entry {
  /** Resolves when the service has started, or the command has run. */
  readonly done: Promise<unknown>;
}

/**
 * Runs an entry of the bundle, such as `main.bundled.js`. Its files are CommonJS, because only that can be run from code that V8 has compiled
 * before: compiling takes a quarter of the time of a start. Once the entry is done, compiled code that was missing is stored for its next
 * run in `dist/.compiled`, where only the user who stored it can write.
 */
export async function runBundled(entry: string): Promise<void> {
  const bundle = new Bundle(entry);
  await ((await bundle.import(join(FOLDER, entry))) as Entry).done;
  await bundle.storeCompiled();
}

/** The files of the bundle, as an entry has loaded them. */
class Bundle {
  private readonly loaded = new Map<string, LoadedFile>();
  /** What packages export that files have imported. */
  private readonly packages = new Map<string, unknown>();
  /** By file: the packages that it and the files that it requires have imported. */
  private readonly packagesOf = JSON.parse(readFileSync(join(FOLDER, 'packages.json'), 'utf8')) as Readonly<
    Record<string, readonly string[]>
  >;
  private readonly requirePackage = createRequire(import.meta.url);
  /** By file in which its compiled code is to be stored: a script that had none. Undefined once the entry is done. */
  private notStored: Map<string, { script: Script; source: Buffer }> | undefined = new Map();
  /** Where compiled code is stored. Other versions and flags of V8 have another folder. */
  private readonly compiledFolder: string;

  constructor(entry: string) {
    const version = `${process.version}-${cachedDataVersionTag()}`;
    this.compiledFolder = join(dirname(FOLDER), '.compiled', version, entry);
  }

  /** The exports of a file, once the packages that it imports are loaded. */
  async import(file: string): Promise<object> {
    const packages = this.packagesOf[relative(FOLDER, file).replaceAll(sep, '/')] ?? [];
    await Promise.all(packages.map(async (id) => this.packages.set(id, await import(id))));
    return this.load(file);
  }

  /** Stores compiled code that was missing: that of one file in each turn of the event loop, because it takes up to 20 ms. */
  async storeCompiled(): Promise<void> {
    const missing = this.notStored ?? [];
    this.notStored = undefined;
    for (const [file, { script, source }] of missing) {
      // A read-only folder, as in the container image, has no code to store.
      if (!(await isWritable(dirname(file)))) return;
      await setImmediate();
      const compiled = script.createCachedData();
      const unfinished = `${file}.${process.pid}`;
      try {
        await writeFile(unfinished, [hashOf(source, compiled), compiled], { mode: 0o644 });
        await rename(unfinished, file);
      } catch {
        // The disk is full, or the file cannot be replaced: the next run compiles again.
        await rm(unfinished, { force: true }).catch(() => undefined);
      }
    }
  }

  private load(file: string): object {
    const existing = this.loaded.get(file);
    if (existing) return existing.exports;
    const module: LoadedFile = { exports: {} };
    this.loaded.set(file, module);
    const code = this.compile(file).runInThisContext() as Code;
    try {
      code(module.exports, (id) => this.require(id, file), module, file, dirname(file), this.importModule);
    } catch (error) {
      this.loaded.delete(file);
      throw error;
    }
    return module.exports;
  }

  private require(id: string, file: string): unknown {
    if (id.startsWith('.')) return this.load(join(dirname(file), id));
    if (!id.startsWith(IMPORTED)) return this.requirePackage(id);
    const name = id.slice(IMPORTED.length);
    if (!this.packages.has(name)) throw new Error(`packages.json omits ${name}, which ${file} imports`);
    return this.packages.get(name);
  }

  /** A file of the bundle is given by its path or, for an entity or a migration, by its URL. */
  private readonly importModule = Object.assign(
    async (id: string | URL, options?: ImportCallOptions): Promise<unknown> => {
      const text = String(id);
      const file = normalize(text.startsWith('file:') ? fileURLToPath(text) : text);
      return file.startsWith(FOLDER + sep) ? this.import(file) : import(text, options);
    },
    { resolve: (id: string) => import.meta.resolve(id) },
  );

  /** V8 rejects compiled code of another version, or with other flags. Of the source it compares only the length, hence the hash. */
  private compile(file: string): Script {
    const source = readFileSync(file);
    const stored = join(this.compiledFolder, relative(FOLDER, file));
    const cachedData = compiledIn(stored, source);
    // The bundle is ASCII alone, and V8 holds a string of Latin-1 with one byte per character.
    const wrapped = `(function (${PARAMETERS}) {${source.toString('latin1')}\n})`;
    const script = new Script(wrapped, { filename: file, ...(cachedData && { cachedData }) });
    if (!cachedData || script.cachedDataRejected === true) this.notStored?.set(stored, { script, source });
    return script;
  }
}

/** The compiled code in a file; undefined if it is missing, unreadable, damaged, or of another source. */
function compiledIn(file: string, source: Buffer): Buffer | undefined {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
    const content = readFileSync(file);
    const compiled = content.subarray(HASH_LENGTH);
    return hashOf(source, compiled).equals(content.subarray(0, HASH_LENGTH)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

/** Whether files can be stored in a folder, which is created if it is missing. */
async function isWritable(folder: string): Promise<boolean> {
  return mkdir(folder, { recursive: true, mode: 0o755 })
    .then(() => access(folder, constants.W_OK))
    .then(
      () => true,
      () => false,
    );
}

function hashOf(source: Buffer, compiled: Buffer): Buffer {
  return createHash('sha1').update(source).update(compiled).digest();
}
