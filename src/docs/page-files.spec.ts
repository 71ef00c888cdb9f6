import { expect, it } from 'vitest';
import { pageFile } from './page-files.js';

it('finds a static file of a page below the root of the source, and of a bundle', async () => {
  expect((await pageFile('docs/pages/static/mark.svg')).toString()).toContain('<svg');
});

it('rejects where there is no such file', async () => {
  await expect(pageFile('admin/console/static/none.svg')).rejects.toThrow(/ENOENT/);
});
