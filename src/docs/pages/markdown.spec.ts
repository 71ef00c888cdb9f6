import { describe, expect, it } from 'vitest';
import { renderMarkdown } from './markdown.js';
import { relativeTo } from './layout.js';

const ADDRESSES: Readonly<Record<string, string>> = { 'errors.md': '../errors' };
const render = (text: string) => renderMarkdown(text, (href) => ADDRESSES[href]);

describe('Markdown as a page', () => {
  it.each([
    [
      'HTML is shown as text',
      'a <b onclick="x">b</b>',
      '<p>a &lt;b onclick=&quot;x&quot;&gt;b&lt;/b&gt;</p>\n',
    ],
    ['a block of HTML, too', '<script>x</script>', '&lt;script&gt;x&lt;/script&gt;'],
    ['code', '`a<b`', '<p><code>a&lt;b</code></p>\n'],
    [
      'a block of code scrolls by keyboard',
      '```sh\na && b\n```',
      '<pre tabindex="0"><code>a &amp;&amp; b</code></pre>\n',
    ],
    ['a link that readers can follow', '[e](errors.md)', '<p><a href="../errors">e</a></p>\n'],
    ['the words of a link that they cannot', '[`e` f](operations.md)', '<p><code>e</code> f</p>\n'],
    ['a link that would run a script', '[e](javascript:alert)', '<p>e</p>\n'],
    ['a picture', '![e](https://elsewhere.example/x.png)', '<p>e</p>\n'],
  ])('%s', async (_, text, html) => {
    expect((await render(text)).html).toBe(html);
  });

  it('has an anchor at each heading, named as GitHub names it', async () => {
    const { title, headings, html } = await render('# A `b` & c\n\n## Same\n\n## Same\n\n### `x`: y\n');
    expect(title).toContain('A b');
    expect(headings).toEqual([
      { id: 'same', text: 'Same' },
      { id: 'same-1', text: 'Same' },
    ]);
    expect(html).toContain('<h3 id="x-y">');
  });
});

it.each([
  ['/', '/docs', './docs'],
  ['/docs', '/docs/errors', './docs/errors'],
  ['/docs', '/', './'],
  ['/docs/', '/docs/errors', '../docs/errors'],
  ['/docs/guides/a', '/', '../../'],
])('at %s the address of %s is %s', (page, path, address) => {
  expect(relativeTo(page, path)).toBe(address);
});
