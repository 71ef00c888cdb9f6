import { access, readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service-process.js';

const GUIDES = (await readdir(join(ROOT, 'docs/guides'))).map((guide) => `docs/guides/${guide}`);
/** Every page that people read. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...(await markdownIn('docs')),
  ...(await markdownIn('docs/decisions')),
  ...(await markdownIn('docs/operations')),
  ...(await markdownIn('examples/adoptions')),
  ...(await markdownIn('clients/typescript')),
  ...GUIDES,
];

async function markdownIn(folder: string): Promise<string[]> {
  const names = await readdir(join(ROOT, folder));
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);
}

const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const flat = (code: string) => code.replaceAll(/\s+/g, ' ').trim();
const isThere = (path: string) =>
  access(join(ROOT, path)).then(
    () => true,
    () => false,
  );

/** A block of TypeScript: what its first line says, and what follows. */
interface Block {
  readonly guide: string;
  readonly head: string;
  readonly code: string;
}

const blocks = (await Promise.all([...GUIDES, 'docs/extending.md'].map(blocksOf))).flat();

async function blocksOf(guide: string): Promise<Block[]> {
  const found = (await read(guide)).matchAll(/```ts\n(?<head>[^\n]*)\n(?<code>[^]*?)```/g);
  return [...found].map(({ groups = {} }) => ({
    guide,
    head: groups['head']?.trim() ?? '',
    code: groups['code'] ?? '',
  }));
}

const EXCERPT = /^\/\/ of (?<file>\S+)$/;
const WHOLE = /^\/\/ (?<file>\S+\.ts)$/;
const named = (block: Block, form: RegExp) => form.exec(block.head)?.groups?.['file'];
/** Words before a parenthesis or after `new`, `extends` or `@`: what a reader must import, in this house in PascalCase. */
const USED = /(?:new |extends |@)(?<name>[A-Z]\w+)/g;
const KNOWN = new Set(['Promise', 'Error', 'Map', 'Set', 'WeakMap', 'Date', 'URL']);

describe('a block of TypeScript in a guide', () => {
  it.each(blocks)('says what file it is, or is of: $guide $head', ({ head }) => {
    expect(head).toMatch(/^\/\/ (\S+\.ts|of \S+\.ts|in .+)$/);
  });

  it.each(blocks.filter((block) => named(block, WHOLE)))('imports what it uses: $guide $head', ({ code }) => {
    const strings = /'[^'\n]*'|`[^`]*`|\/\*[^]*?\*\/|\/\/.*/g;
    const used = [...code.replaceAll(strings, '').matchAll(USED)].map(
      ({ groups = {} }) => groups['name'] ?? '',
    );
    const missing = used.filter((name) => !KNOWN.has(name) && !introduces(code, name));
    expect(missing).toEqual([]);
  });

  it.each(blocks.filter((block) => named(block, EXCERPT)))(
    'quotes what runs: $guide $head',
    async (block) => {
      const source = flat(await read(named(block, EXCERPT) ?? ''));
      // Where an excerpt has an empty line, lines of the file may be left out.
      const parts = block.code.replaceAll(/^import [^;]*;/gm, '').split(/\n\s*\n/);
      for (const part of parts) expect(source).toContain(flat(part));
    },
  );

  it.each(blocks.filter((block) => named(block, WHOLE)?.startsWith('examples/')))(
    'is the whole file: $head',
    async (block) => {
      expect(await read(named(block, WHOLE) ?? '')).toBe(block.code);
    },
  );
});

/** Whether a block imports or declares a name. */
function introduces(code: string, name: string): boolean {
  const imports = code.match(/^import [^;]*;/gm) ?? [];
  return (
    imports.some((line) => new RegExp(`\\b${name}\\b`).test(line)) ||
    new RegExp(`(class|interface|type|const) ${name}\\b`).test(code)
  );
}

/** The fragment of a heading, as GitHub makes it. */
const fragmentOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

describe('a link leads to what is there', () => {
  it.each(PAGES)('%s', async (page) => {
    const text = (await read(page)).replaceAll(/```[^]*?```/g, '');
    const broken: string[] = [];
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', fragment] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!(await isThere(file))) broken.push(target);
      else if (fragment !== undefined) {
        const headings = (await read(file)).matchAll(/^#+ (.*)$/gm);
        if (![...headings].some(([, heading = '']) => fragmentOf(heading) === fragment)) broken.push(target);
      }
    }
    expect(broken).toEqual([]);
  });
});
