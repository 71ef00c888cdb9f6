import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ROOT, WITH_CATALOGUE } from './service-process.js';

const PARTS = [
  'src',
  'test',
  'bin',
  'scripts',
  'schematics',
  'docs',
  'clients',
  'ormconfig.ts',
  'package.json',
  'nest-cli.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
  '.dependency-cruiser.cjs',
  '.oxlintrc.json',
  '.prettierrc',
  '.prettierignore',
];

/** The catalogue of the test suites. */
export const CATALOGUE = join(ROOT, 'test/support/pets');

/** Whether a file or folder, in the sources or in a build, does not belong to a feature. A feature is a folder with a public file. */
export function isOfPlatform(path: string): boolean {
  const ofFeature = join(path, `${basename(path)}.public`);
  return !['.ts', '.js'].some((extension) => existsSync(ofFeature + extension));
}

/** The source of src/app.module.ts with only the catalogue of the test suites. */
export async function catalogueAppModule(): Promise<string> {
  const platform = await readFile(join(ROOT, 'src/platform.module.ts'), 'utf8');
  return platform
    .replace(/(?=import \{ WebhooksModule)/, "import { PetsModule } from './pets/pets.module.js';\n")
    .replace('DocsModule, AccountModule', 'DocsModule, PetsModule, AccountModule')
    .replace('class PlatformModule', 'class AppModule');
}

/**
 * Copies the project without its data and build, with the catalogue of the test suites instead of its features. The installed packages are
 * shared; the project's own package name resolves to the copy.
 */
export async function copyProject(path: string): Promise<void> {
  for (const part of PARTS) {
    const filter = (file: string) => part !== 'src' || isOfPlatform(file);
    await cp(join(ROOT, part), join(path, part), { recursive: true, filter });
  }
  await cp(CATALOGUE, join(path, 'src/pets'), { recursive: true });
  await writeFile(join(path, 'src/app.module.ts'), await catalogueAppModule());
  const installed = join(path, 'node_modules');
  await mkdir(installed);
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== 'petstore-service') await symlink(join(ROOT, 'node_modules', name), join(installed, name));
  await symlink('..', join(installed, 'petstore-service'));
}

/** Copies the existing build of such a project into the copy, because building it again would give the same result. */
export async function copyBuild(path: string): Promise<void> {
  const dist = join(WITH_CATALOGUE, 'dist');
  const filter = (file: string) => file !== join(dist, '.compiled');
  await cp(dist, join(path, 'dist'), { recursive: true, filter });
  await writeFile(join(path, 'dist/.built'), '');
}

/** The files that a guide shows, by name: code blocks whose first line is a comment with the file name. */
export async function filesOfGuide(guide: string): Promise<Map<string, string>> {
  const text = await readFile(join(ROOT, guide), 'utf8');
  const blocks = text.matchAll(/```\w+\n\/\/ (\S+\.\w+)\n([^]*?)```/g);
  return new Map([...blocks].map(([, file = '', content = '']) => [file, content]));
}

/** Writes files into a folder. */
export async function writeFiles(folder: string, files: Iterable<readonly [string, string]>): Promise<void> {
  for (const [file, content] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content);
  }
}
