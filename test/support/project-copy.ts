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

/** The catalogue of the suites. */
export const CATALOGUE = join(ROOT, 'test/support/pets');

/** Whether a file or folder, of the sources or of a build, is none of a feature, which has public names. */
export function isOfPlatform(path: string): boolean {
  const ofFeature = join(path, `${basename(path)}.public`);
  return !['.ts', '.js'].some((extension) => existsSync(ofFeature + extension));
}

/** The text of src/app.module.ts with the catalogue of the suites alone. */
export async function catalogueAppModule(): Promise<string> {
  const platform = await readFile(join(ROOT, 'src/platform.module.ts'), 'utf8');
  return platform
    .replace(/(?=import \{ WebhooksModule)/, "import { PetsModule } from './pets/pets.module.js';\n")
    .replace('DocsModule, AccountModule', 'DocsModule, PetsModule, AccountModule')
    .replace('class PlatformModule', 'class AppModule');
}

/**
 * Copies the project without its data and its build, and with the catalogue of the suites instead of its features. What is installed is the
 * same; the project's own name leads to the copy.
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

/** Copies the build of such a copy into it: to make it again would give the same. */
export async function copyBuild(path: string): Promise<void> {
  const dist = join(WITH_CATALOGUE, 'dist');
  const filter = (file: string) => file !== join(dist, '.compiled');
  await cp(dist, join(path, 'dist'), { recursive: true, filter });
  await writeFile(join(path, 'dist/.built'), '');
}

/** The files that a guide shows, by name: blocks of code whose first line is a comment with the name. */
export async function filesOfGuide(guide: string): Promise<Map<string, string>> {
  const text = await readFile(join(ROOT, guide), 'utf8');
  const blocks = text.matchAll(/```\w+\n\/\/ (\S+\.\w+)\n([^]*?)```/g);
  return new Map([...blocks].map(([, file = '', content = '']) => [file, content]));
}

/** Writes files below a folder. */
export async function writeFiles(folder: string, files: Iterable<readonly [string, string]>): Promise<void> {
  for (const [file, content] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content);
  }
}
