import { cp, mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ROOT } from './service-process.js';

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

/** Copies the project without its data and its build. What is installed is the same; the project's own name leads to the copy. */
export async function copyProject(path: string): Promise<void> {
  for (const part of PARTS) await cp(join(ROOT, part), join(path, part), { recursive: true });
  const installed = join(path, 'node_modules');
  await mkdir(installed);
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== 'petstore-service') await symlink(join(ROOT, 'node_modules', name), join(installed, name));
  await symlink('..', join(installed, 'petstore-service'));
}

/** Copies the build of this checkout into a copy of the project that is as it is here: to make it again would give the same. */
export async function copyBuild(path: string): Promise<void> {
  const dist = join(ROOT, 'dist');
  const filter = (file: string) => file !== join(dist, '.compiled');
  await cp(dist, join(path, 'dist'), { recursive: true, filter });
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
