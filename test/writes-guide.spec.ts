import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const GUIDE = new URL('../docs/guides/writes.md', import.meta.url);
/** Where the guide quotes from. */
const SOURCES = ['./support/visits.ts', './unindexed-lists.spec.ts'];

const flat = (code: string): string => code.replaceAll(/\s+/g, ' ').trim();

it('the guide to writes quotes code that runs', async () => {
  const guide = await readFile(GUIDE, 'utf8');
  const sources = await Promise.all(SOURCES.map((file) => readFile(new URL(file, import.meta.url), 'utf8')));
  const blocks = [...guide.matchAll(/```ts\n([^]*?)```/g)].map(([, code = '']) => flat(code));
  expect(blocks.length).toBeGreaterThan(8);
  for (const block of blocks)
    expect(
      sources.some((source) => flat(source).includes(block)),
      block,
    ).toBe(true);
});
