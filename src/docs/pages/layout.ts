import { escapeHtml } from './html.js';

/** A page to link to. */
export interface PageLink {
  readonly label: string;
  /** Path from the root of the service, such as `/docs/admin`. */
  readonly path: string;
}

/** The data in the frame of every page. */
export interface Site {
  readonly name: string;
  /** The pages of the OpenAPI documents, listed in the header. */
  readonly documents: readonly PageLink[];
  readonly guides: readonly PageLink[];
}

/** The content of a page. */
export interface PageContent {
  readonly title: string;
  /** Path from the root of the service, such as `/docs/`. */
  readonly path: string;
  /** Path of its entry in the header, if different from its own. */
  readonly entryPath?: string;
  /** The content between header and footer, as HTML with relative links from `relativeTo()`. */
  readonly main: string;
  /** Style sheets, scripts and modules in addition to those of the frame, by path from the root of the service. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  readonly modules?: readonly string[];
}

/** The table of contents of a page, as a landmark; collapsed on narrow screens. */
export function contentsOf(title: string, list: string): string {
  return `<nav class="contents" aria-label="${title}"><details><summary>${title}</summary>${list}</details></nav>`;
}

/** Path of the files of every page, which are in src/docs/pages/static. */
export const ASSETS_PATH = '/docs/assets';

/** The script of pages with commands to copy. */
export const COMMANDS = `${ASSETS_PATH}/commands.js`;

/** The relative URL of a path from a page: `../v1/pets` at /docs/errors. Only the browser knows which prefix a proxy has removed. */
export function relativeTo(page: string, path: string): string {
  const depth = page.split('/').length - 2;
  return `${depth === 0 ? './' : '../'.repeat(depth)}${path.slice(1)}`;
}

/** A complete page: header with the documents and guides, content, footer. Readable without scripts. */
export function layout(
  site: Site,
  { title, path, entryPath = path, main, styles = [], scripts = [], modules = [] }: PageContent,
): string {
  const to = (target: string) => escapeHtml(relativeTo(path, target));
  const list = (links: readonly PageLink[]) =>
    links
      .map(
        ({ label, path: target }) =>
          `<li><a href="${to(target)}"${target === entryPath ? ' aria-current="page"' : ''}>${escapeHtml(label)}</a></li>`,
      )
      .join('');
  const name = escapeHtml(site.name);
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${escapeHtml(title)}</title>
${[...styles, `${ASSETS_PATH}/shared.css`, `${ASSETS_PATH}/pages.css`].map((style) => `  <link rel="stylesheet" href="${to(style)}">`).join('\n')}
  <link rel="icon" type="image/svg+xml" href="${to(`${ASSETS_PATH}/mark.svg`)}">
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="top"><div class="top-inner">
    <a class="brand" href="${to('/')}"><img src="${to(`${ASSETS_PATH}/mark.svg`)}" alt="" width="32" height="32"><span>${name}</span></a>
    <nav class="documents" aria-label="Documents"><ul class="places">${list(site.documents)}</ul></nav>
    <nav aria-label="Guides"><ul class="places">${list(site.guides)}</ul></nav>
  </div></header>
${main}
  <footer class="foot"><div class="foot-inner"><span>${name}</span><a href="${to('/docs/openapi.json')}">OpenAPI document</a></div></footer>
${scripts.map((script) => `  <script src="${to(script)}"></script>\n`).join('')}${modules
    .map((module) => `  <script type="module" src="${to(module)}"></script>\n`)
    .join('')}</body>
</html>
`;
}
