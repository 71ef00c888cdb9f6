import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/service-process.js';

const GUIDES = join(ROOT, 'docs/guides');
const BLOCK = /```ts\n\/\/ (?<path>examples\/\S+)\n(?<text>[\s\S]*?)```/g;

/** The blocks of a guide that name a file of the project, with what they show of it. */
async function blocksOf(guide: string) {
  const text = await readFile(join(GUIDES, guide), 'utf8');
  return [...text.matchAll(BLOCK)].map(({ groups = {} }) => ({
    path: groups['path'] ?? '',
    text: groups['text'] ?? '',
  }));
}

const blocks = (await Promise.all((await readdir(GUIDES)).map(blocksOf))).flat();

describe('a guide shows as it is', () => {
  it.each(blocks)('$path', async ({ path, text }) => {
    expect(await readFile(join(ROOT, path), 'utf8')).toBe(text);
  });

  it('files that suites run', () => {
    expect(blocks.length).toBeGreaterThan(0);
  });
});
