import { execFile } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, emptyFolder } from './service-process.js';

/** The folder of the typed client. */
export const CLIENT = join(ROOT, 'clients/typescript');

/** The files that npm adds to the package, and a folder in which only the package is installed. */
export interface PackedClient {
  readonly folder: string;
  /** The name of the package's file. */
  readonly file: string;
  readonly files: readonly string[];
  readonly remove: () => Promise<void>;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Runs a program in a folder. Returns its standard output. Rejects with its entire output if it fails. */
export async function run(
  cwd: string,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, ...environment };
  const { stdout } = await promisify(execFile)(program, [...args], { cwd, env }).catch(
    (error: Error & { stdout?: string; stderr?: string }) => {
      throw new Error(`${error.message}\n${error.stdout ?? ''}`);
    },
  );
  return stdout;
}

const DEPENDENCIES = ['lossless-json', 'openapi-fetch', 'openapi-typescript-helpers'];

/** Builds and packs the typed client, and installs it with its dependencies in an empty folder, without a registry. */
export async function packedClient(): Promise<PackedClient> {
  const { path: folder, remove } = await emptyFolder();
  // Not in the client's folder, because several suites build it at the same time.
  const built = join(folder, 'built');
  await cp(CLIENT, built, {
    recursive: true,
    filter: (path) => !path.startsWith(join(CLIENT, 'dist')),
  });
  await run(ROOT, process.execPath, [join(ROOT, 'scripts/build-client.mjs'), join(built, 'dist')]);
  const folders = [built, ...DEPENDENCIES.map((name) => join(ROOT, 'node_modules', name))];
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders];
  const [packed, ...dependencies] = JSON.parse(await run(built, 'npm', pack, { HOME: folder })) as [
    Packed,
    ...Packed[],
  ];
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  const files = [...dependencies, packed].map(({ filename }) => `./${filename}`);
  await run(folder, 'npm', ['install', ...quiet, ...files]);
  return { folder, file: packed.filename, files: packed.files.map(({ path }) => path), remove };
}

/** The code block of a language in the client's README. */
export async function readmeCode(language: string): Promise<string> {
  const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? '';
}

/** The example in the client's README, with the given URL and key. */
export async function readmeExample(baseUrl: string, apiKey: string): Promise<string> {
  const example = await readmeCode('js');
  return example.replace('http://127.0.0.1:3000/v1', baseUrl).replace('pst_test_…', apiKey);
}
