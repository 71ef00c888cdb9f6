import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const DECISION = 'docs/decisions/0011-nests-chain.md';

/** The files of a folder, below it too. */
function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

/** Modules of packages that the service imports past their public entrance, other than their types, each with who does. */
function deepImports(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of filesOf(join(ROOT, 'src'), '.ts').toSorted()) {
    if (file.endsWith('.spec.ts')) continue;
    const imports = readFileSync(file, 'utf8').matchAll(
      /^(?!import type)[^'\n]*(?:from|import)\s*\(?\s*'((?:@nestjs\/[\w-]+|class-transformer|express|router|typeorm|pg|sqlite3)\/[^']+)'/gm,
    );
    for (const [, name = ''] of imports) found.set(name, [...(found.get(name) ?? []), file]);
  }
  return found;
}

describe('what the service reads of the insides of Nest, Express, Throttler, TypeORM and the drivers', () => {
  it(`stands in ${DECISION}, each with a test that is there`, () => {
    const rows = readFileSync(join(ROOT, DECISION), 'utf8').matchAll(
      /^\| `((?:@nestjs|class-transformer|express|router|typeorm|pg|sqlite3)[^`]*\/[^`]*)` .*$/gm,
    );
    const listed = new Map([...rows].map(([row, name = '']) => [name, row]));
    expect([...listed.keys()].toSorted()).toEqual([...deepImports().keys()].toSorted());
    for (const row of listed.values()) {
      const tests = [...row.matchAll(/[\w./-]+\.spec\.ts/g)].map(([test]) => test);
      expect(tests.length, row).toBeGreaterThan(0);
      const all = [...filesOf(join(ROOT, 'test'), '.spec.ts'), ...filesOf(join(ROOT, 'src'), '.spec.ts')];
      for (const test of tests)
        expect(
          all.some((file) => file.endsWith(`/${test}`)),
          test,
        ).toBe(true);
    }
  });

  it('is nothing but imports, beside the routes of Express’s router in one file', () => {
    for (const file of filesOf(join(ROOT, 'src/http'), '.ts').filter(
      (one) => !one.endsWith('/registered-routes.ts'),
    ))
      expect(readFileSync(file, 'utf8'), file).not.toMatch(
        /router\.stack|\.stack\b.*layer|handle(?:r)?\.name\b/i,
      );
  });
});
