import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { softwareFolder } from '#supported-node';
import type { Call } from '../frame/call.js';
import { envExampleOfProject } from '../../core/config/env-example.js';
import { keyPrefix, line } from '../../core/config/identity.js';
import { PLATFORM_SETTINGS } from '../../core/config/platform-settings.js';
import { Refusal } from '../../core/refusal.js';
import { filledTemplates, writeNewFiles } from './generated-files.js';

/** Allowed package names; npm has more rules for published packages. */
const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** The packages that the guides import, in the service's versions, so that Nest is not installed twice. */
const IMPORTED = [
  '@nestjs/common',
  '@nestjs/platform-express',
  '@nestjs/swagger',
  '@nestjs/terminus',
  '@nestjs/throttler',
  '@nestjs/typeorm',
  'class-transformer',
  'class-validator',
  'rxjs',
  'typeorm',
];
/**
 * Overrides of the service that a project must repeat, because npm reads only the project's own. Newer versions do not support Node.js 20.
 */
const OVERRIDDEN = ['file-type'];
const FOR_DEVELOPMENT = [
  '@nestjs/testing',
  '@types/express',
  '@types/node',
  'openapi-response-validator',
  'prettier',
  'typescript',
  'vitest',
];

/** The fields read from the service's package.json. */
interface Manifest {
  readonly version: string;
  readonly engines: object;
  readonly allowScripts: object;
  readonly overrides: Readonly<Record<string, string | object>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The user's choices. */
interface Chosen {
  readonly name: string;
  readonly title: string;
  readonly prefix: string;
  readonly withPets: boolean;
}

/** `petstore new`: a project that depends on the service. The service is packed into its folder, because it is not in a registry. */
export async function newProject(call: Call, path: string): Promise<void> {
  const folder = resolve(path);
  const name = basename(folder);
  if (!NAME.test(name))
    throw new Refusal(`Name the folder in lower case with hyphens, such as my-api, not ${name}.`);
  const title = call.options.title ?? titleOf(name);
  if (line(100).parse(title) === undefined) throw new Refusal(`--title: This must be ${line(100).mustBe}.`);
  const withPets = call.options.withPets === true;
  if (withPets && !existsSync(join(softwareFolder(), 'dist', 'src', 'pets')))
    throw new Refusal(
      '--with-pets: This service does not include the catalogue of animals. Omit the option.',
    );
  if (existsSync(folder)) throw new Refusal(`${folder} already exists. Name a new folder.`);
  await mkdir(folder, { recursive: true });
  const prefix = prefixOf(name);
  const files = await writeProject(folder, { name, title, prefix, withPets }).catch(
    async (error: unknown) => {
      await rm(folder, { recursive: true });
      throw error;
    },
  );
  await call.showChange({ folder, files, keyPrefix: prefix }, () =>
    [
      ...files.map((file) => `Wrote ${join(path, file)}`),
      `Keys begin with ${prefix}_live_ in production, and with ${prefix}_test_ elsewhere.`,
      `Next: cd ${path} && npm install && npm start`,
    ].join('\n'),
  );
}

/** Fills the templates in schematics/new and packs the service next to them; returns the file names. */
async function writeProject(folder: string, chosen: Chosen): Promise<string[]> {
  const software = softwareFolder();
  const manifest = JSON.parse(await readFile(join(software, 'package.json'), 'utf8')) as Manifest;
  const packed = await packedInto(folder, software);
  const all: Readonly<Record<string, string>> = { ...manifest.dependencies, ...manifest.devDependencies };
  const rangesOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((one) => [one, all[one] ?? '*']));
  const json = (value: unknown) => JSON.stringify(value, undefined, 2).replaceAll('\n', '\n  ');
  const values = {
    json,
    ...manifest,
    ...chosen,
    dependencies: { ...rangesOf(IMPORTED), 'petstore-service': `file:${packed}` },
    devDependencies: rangesOf(FOR_DEVELOPMENT),
    overrides: Object.fromEntries(OVERRIDDEN.map((one) => [one, manifest.overrides[one]])),
  };
  // npm does not pack a file named .gitignore.
  const texts = await filledTemplates('new', values, (file) => file.replace('_gitignore', '.gitignore'));
  const { petstore } = JSON.parse(texts.get('package.json') ?? '') as { petstore: { settings: object } };
  texts.set('.env.example', envExampleOfProject(PLATFORM_SETTINGS, petstore.settings));
  await writeNewFiles(folder, texts);
  return [packed, ...texts.keys()];
}

/** Turns `my-api` into `My Api`. */
function titleOf(name: string): string {
  return name.replaceAll('-', ' ').replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** The prefix of keys: `acme` for `acme-orders`, and `myapi` for `my-api`, whose first word is too short. */
function prefixOf(name: string): string {
  const [word = ''] = name.split('-');
  const prefix = word.length > 2 ? word : name.replaceAll('-', '');
  return keyPrefix.parse(prefix.slice(0, 10)) ?? 'api';
}

/** Packs the service into a folder; returns the file name. */
async function packedInto(folder: string, software: string): Promise<string> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  try {
    const { stdout } = await promisify(execFile)('npm', args, { cwd: software });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    return filename;
  } catch (error) {
    throw new Refusal(`npm could not pack the service of ${software}: ${String(error)}`);
  }
}
