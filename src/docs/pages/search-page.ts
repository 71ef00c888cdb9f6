import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorRow } from '../../core/errors/define-errors.js';
import { ERRORS_PATH } from '../../core/errors/help-link.js';
import { GUIDE, headingId } from './guide-page.js';
import { escapeHtml, escapeWithCode } from './html.js';
import { ASSETS_PATH, type PageContent, type PageLink, relativeTo } from './layout.js';

/** The page that searches operations, sections of the guide, and errors. */
export const SEARCH: PageLink = { label: 'Search', path: '/docs/search' };

interface Entry {
  readonly title: string;
  readonly kind: string;
  readonly text: string;
  readonly path: string;
}

/** The page with all entries; its script shows those that match the search. */
export function searchPage(
  documents: readonly { readonly docsPath: string; readonly document: OpenAPIObject }[],
  errors: readonly ErrorRow[],
  guide: string,
): PageContent {
  const entries = [...documents.flatMap(operationsOf), ...sectionsOf(guide), ...errors.map(errorEntry)];
  const items = entries.map(
    ({ title, kind, text, path }) =>
      `<li><a href="${escapeHtml(relativeTo(SEARCH.path, path))}">${escapeHtml(title)}</a> <span>${kind}</span><p>${escapeWithCode(text)}</p></li>`,
  );
  return {
    title: 'Search',
    path: SEARCH.path,
    main: `  <main class="start" id="main" tabindex="-1">
    <h1>Search</h1>
    <search class="search"><label for="words">Operations, guide and errors</label>
      <input type="search" id="words" autocomplete="off" spellcheck="false"><p role="status"></p></search>
    <ul class="found">${items.join('\n')}</ul>
  </main>`,
    modules: [`${ASSETS_PATH}/search.js`],
  };
}

function operationsOf({
  docsPath,
  document: { servers, paths },
}: {
  readonly docsPath: string;
  readonly document: OpenAPIObject;
}): Entry[] {
  const base = new URL(servers?.[0]?.url ?? '/', 'http://service').pathname.replace(/\/$/, '');
  return Object.entries(paths).flatMap(([path, item]) =>
    (['get', 'post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
      const { operationId = '', summary = '', description = '', tags = [] } = item[method] ?? {};
      if (operationId === '') return [];
      const title = `${method.toUpperCase()} ${base}${path}`;
      const swaggerPath = `${docsPath}#/${tags[0]?.replaceAll(' ', '%20') ?? 'default'}/${operationId}`;
      return [
        {
          title,
          kind: 'Operation',
          text: `${summary}. \`${operationId}\` ${description}`,
          path: swaggerPath,
        },
      ];
    }),
  );
}

function sectionsOf(guide: string): Entry[] {
  const [, ...sections] = guide.split(/^#{2,3} /m);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    const text = lines.filter((line) => !/^(```|\|)/.test(line)).join(' ');
    const plain = text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('**', '');
    return { title, kind: 'Guide', text: plain, path: `${GUIDE.path}#${headingId(title)}` };
  });
}

function errorEntry({ code, status, message, cause, remedy }: ErrorRow): Entry {
  return {
    title: code,
    kind: 'Error',
    text: `${status}: ${message} ${cause} ${remedy}`,
    path: `${ERRORS_PATH}#${code}`,
  };
}
