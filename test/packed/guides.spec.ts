import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service-process.js';

const FOLDERS = [
  '.',
  'docs',
  'docs/decisions',
  'docs/operations',
  'docs/guides',
  'examples/adoptions',
  'clients/typescript',
];
/** Every page that people read. */
const PAGES = (
  await Promise.all(
    FOLDERS.map(async (folder) =>
      (await readdir(join(ROOT, folder)))
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(folder, name)),
    ),
  )
).flat();

const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const flat = (code: string) => code.replaceAll(/\s+/g, ' ').trim();

describe('the code in the guides', () => {
  const guides = PAGES.filter((page) => page.startsWith('docs/guides/') || page === 'docs/extending.md');

  it.each(guides)('of %s is that of files which run: whole, or in parts', async (guide) => {
    const wrong: string[] = [];
    for (const [, head = '', code = ''] of (await read(guide)).matchAll(/```ts\n\s*(.*)\n([^]*?)```/g)) {
      const [, of, file = ''] = /^\/\/ (of )?(\S+\.ts)$/.exec(head) ?? [];
      // An empty line in an excerpt stands for any number of omitted lines of the file.
      const parts = code.replaceAll(/^import [^;]*;/gm, '').split(/\n\s*\n/);
      if (of !== undefined) {
        const source = flat(await read(file));
        wrong.push(...parts.filter((part) => !source.includes(flat(part))));
      } else if (file.startsWith('examples/')) {
        if ((await read(file)) !== code) wrong.push(head);
      } else if (file === '' && !/^\/\/ in .+$/.test(head))
        wrong.push(`says not of what file it is: ${head}`);
    }
    expect(wrong).toEqual([]);
  });
});

/** The fragment of a heading, as GitHub makes it. */
const fragmentOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

it.each(PAGES)('every link of %s has a target', async (page) => {
  const text = (await read(page)).replaceAll(/```[^]*?```/g, '');
  const broken: string[] = [];
  for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    const [path = '', fragment] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, file))) broken.push(target);
    else if (fragment !== undefined) {
      const headings = (await read(file)).matchAll(/^#+ (.*)$/gm);
      if (![...headings].some(([, heading = '']) => fragmentOf(heading) === fragment)) broken.push(target);
    }
  }
  expect(broken).toEqual([]);
});
