import type { Tokens } from 'marked';
import { guideFile } from '../page-files.js';
import { escapeHtml } from './html.js';
import { COMMANDS, type PageContent, contentsOf, relativeTo } from './layout.js';
import type { StartFacts } from './start-page.js';

/** The guide that callers of the API read: its file in docs, and its page. */
export const GUIDE = { file: 'using-the-api.md', path: '/docs/guides/using-the-api', label: 'Using the API' };

/** What the guide says of the service. */
type GuideFacts = Pick<StartFacts, 'api' | 'examples' | 'key'>;

/** The address of the API in the file, where readers of the repository have their service. */
const EXAMPLE = 'http://127.0.0.1:3000/v1';

/** The key in the file, which is one of a service that is not in production. */
const EXAMPLE_KEY = 'pst_test_…';

/** The address of a list in the file, and the body of the POST. */
const EXAMPLE_PATH = '/pets';
const EXAMPLE_BODY = '{"name":"Rex","categoryId":1}';

/** The text of the guide for a service: its examples call the operations that it has, and those that it lacks are left out. */
export async function guideText({ key, examples }: Omit<GuideFacts, 'api'>): Promise<string> {
  const { list, create } = examples();
  const text = (await guideFile(GUIDE.file)).replaceAll(EXAMPLE_KEY, key);
  return text.replaceAll(/```(?:sh|text)\n[^]*?```\n\n?/g, (block) => {
    if (!block.includes(EXAMPLE_PATH)) return block;
    const path = /^Location: |Idempotency-Key/m.test(block) ? create?.path : list;
    if (path === undefined) return '';
    return block.replaceAll(EXAMPLE_PATH, path).replace(EXAMPLE_BODY, () => create?.body ?? '');
  });
}

/** The anchor of a heading, as GitHub names it. */
export function headingId(source: string): string {
  const words = source.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return words.trim().replaceAll(/\s/g, '-');
}

/** The page of the guide, with the address of the API and the beginning of its keys. */
export async function guidePage(facts: GuideFacts): Promise<PageContent> {
  // Loaded with the page, not with the service.
  const { Marked } = await import('marked');
  const headings: string[] = [];
  let title = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: source }: Tokens.Heading): string {
        const text = this.parser.parseInline(tokens);
        const id = headingId(source);
        if (depth === 2) headings.push(`<li><a href="#${id}">${text}</a></li>`);
        if (depth > 1)
          return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${depth}>\n`;
        title = source;
        return `<h1 id="${id}">${text}</h1>\n`;
      },
      code: ({ text }: Tokens.Code) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`,
    },
    hooks: {
      // A table scrolls horizontally in a narrow window.
      postprocess: (html: string) =>
        html
          .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>'),
    },
  });
  const html = await marked.parse(await guideText(facts));
  const address = `<span data-api="${relativeTo(GUIDE.path, '/v1')}">${escapeHtml(facts.api())}</span>`;
  return {
    title,
    path: GUIDE.path,
    main: `  <main class="text" id="main" tabindex="-1">
    ${contentsOf('On this page', `<ul>${headings.join('')}</ul>`)}
    <article class="prose">${html.replaceAll(EXAMPLE, address)}</article>
  </main>`,
    scripts: [COMMANDS],
  };
}
