import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { Eta } from 'eta';
import { softwareFolder } from '#supported-node';
import { Refusal } from '../../core/refusal.js';

/** The file that lists a service's modules. The parent folder of its `src` is the project. */
export const APP_MODULE = join('src', 'app.module.ts');

/**
 * The project that contains a folder: the nearest parent with `src/app.module.ts`. Throws Refusal if there is none, as in an installation
 * without sources.
 */
export function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, APP_MODULE))) return at;
    if (at === parse(at).root)
      throw new Refusal(`There is no ${APP_MODULE} in ${folder} or above it. Run this in the project.`);
  }
}

/** Fills the templates in a folder of schematics. Returns the texts by path; `pathOf` derives each path from the template's. */
export async function filledTemplates(
  folder: string,
  values: object,
  pathOf: (template: string) => string,
): Promise<Map<string, string>> {
  const templates = join(softwareFolder(), 'schematics', folder);
  const eta = new Eta({ autoEscape: false, autoTrim: false, useWith: true });
  const texts = new Map<string, string>();
  for (const template of (await readdir(templates, { recursive: true })).toSorted()) {
    if (!template.endsWith('.template')) continue;
    const text = await readFile(join(templates, template), 'utf8');
    texts.set(pathOf(template.replace('.template', '')), eta.renderString(text, values));
  }
  return texts;
}

/** Writes files by path in the project. If one already exists, throws Refusal and writes none. */
export async function writeNewFiles(project: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const path of files.keys())
    if (existsSync(join(project, path)))
      throw new Refusal(`${path} already exists. Remove it first, or choose another name.`);
  for (const [path, text] of files) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text, { flag: 'wx' });
  }
}

/** Formats a text as `npm run format` does. Without Prettier, which only developers install, it is unchanged. */
export async function formatted(file: string, text: string): Promise<string> {
  try {
    const prettier = await import('prettier');
    return await prettier.format(text, { ...(await prettier.resolveConfig(file)), filepath: file });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return text;
    throw error;
  }
}
