import { escapeHtml } from './html.js';
import { COMMANDS, type PageContent, contentsOf, relativeTo } from './layout.js';
import { renderMarkdown } from './markdown.js';
import { guideFile } from '../page-files.js';

/** Where the guides are served. */
export const GUIDES_PATH = '/docs/guides';

/** The guides that callers of the API read, by their names below GUIDES_PATH: the files of docs with these names. */
export const GUIDES: Readonly<Record<string, string>> = {
  'using-the-api': 'Using the API',
};

/** Which page stands for a file of docs; the others are for operators and authors of modules, who have the repository. */
function pageOf(file: string): string | undefined {
  const name = file.replace(/\.md$/, '');
  return Object.hasOwn(GUIDES, name) ? `${GUIDES_PATH}/${name}` : undefined;
}

/** The address of the API in the files, where readers of the repository have their service. */
const EXAMPLE = 'http://127.0.0.1:3000/v1';

/** The page of a guide, made of its file, with the address of the API. Rejects if there is no such file. */
export async function guidePage(name: string, api: string): Promise<PageContent> {
  const path = `${GUIDES_PATH}/${name}`;
  const { title, html, headings } = await renderMarkdown(await guideFile(`${name}.md`), (href) => {
    if (/^(?:https?:|mailto:|#)/.test(href)) return href;
    const [file = '', anchor] = href.split('#', 2);
    const page = pageOf(file);
    return page && relativeTo(path, page) + (anchor === undefined ? '' : `#${anchor}`);
  });
  const list = headings.map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`).join('');
  const address = `<span data-api="${relativeTo(path, '/v1')}">${escapeHtml(api)}</span>`;
  return {
    title,
    path,
    main: `  <main class="text" id="main" tabindex="-1">
    ${contentsOf('On this page', `<ul>${list}</ul>`)}
    <article class="prose">${html.replaceAll(EXAMPLE, address)}</article>
  </main>`,
    scripts: [COMMANDS],
  };
}
