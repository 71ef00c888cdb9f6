import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openForTest } from '../support/opened.js';
import { ranFiles } from '../support/ran-files.js';
import { ROOT } from '../support/service-process.js';

const hasPublicNames = (folder: string): boolean =>
  existsSync(join(ROOT, 'src', folder, `${folder}.public.ts`));

it('suites of the platform run nothing of the features of the checkout, which may change or go', async () => {
  const files = await ranFiles(async () => (await openForTest()).request('GET', '/v1/pets'));
  expect(files).toContain('database/json-rows.ts');
  const features = new Set(readdirSync(join(ROOT, 'src')).filter(hasPublicNames));
  expect(files.filter((file) => features.has(file.split('/', 1)[0] ?? ''))).toEqual([]);
});
