import type { Application } from 'express';
import { errorCatalogue } from '../../core/errors/define-errors.js';
import { ERRORS_PATH } from '../../core/errors/help-link.js';
import { publicPrefix } from '../../core/public-prefix.js';
import { softwareVersion } from '../../core/software-version.js';
import { errorsPage } from './errors-page.js';
import { GUIDE, guidePage } from './guide-page.js';
import { ASSETS_PATH, type PageContent, type PageLink, type Site, layout } from './layout.js';
import { namesOfPageFiles, pageFile } from '../page-files.js';
import { ServedAsset } from './served-asset.js';
import { SEARCH } from './search-page.js';
import { prefersHtml, serveMissing, servePage } from './served-pages.js';
import { type StartFacts, missingPage, startPage } from './start-page.js';

/** The folders of files that pages load, except the Swagger UI's package. */
const FOLDERS = ['docs/openapi/static', 'docs/pages/static'];

/** Search engines can index only the pages, because every other path needs a key. */
const ROBOTS = `User-agent: *
Allow: /$
Allow: /docs
Disallow: /
`;

/** The guides, as listed in the header. */
export const GUIDE_LINKS: readonly PageLink[] = [GUIDE, { label: 'Errors', path: ERRORS_PATH }, SEARCH];

/** Serves all pages except the documents': guides, errors, the page at /, with their icon and style sheet. */
export function addReaderPages(
  application: Application,
  site: Site,
  facts: Omit<StartFacts, 'version'>,
  publicBaseUrl: string,
): void {
  const serve = (path: string, file: string) =>
    servePage(application, path, new ServedAsset(file, () => pageFile(file)));
  for (const folder of FOLDERS)
    for (const name of namesOfPageFiles(folder)) serve(`${ASSETS_PATH}/${name}`, `${folder}/${name}`);
  serve('/favicon.svg', 'docs/pages/static/mark.svg');
  serve('/favicon.ico', 'docs/pages/static/favicon.ico');
  servePage(application, '/robots.txt', new ServedAsset('robots.txt', () => ROBOTS));
  const page = (path: string, content: () => PageContent | Promise<PageContent>) =>
    servePage(application, path, new ServedAsset('.html', async () => layout(site, await content())));
  page(GUIDE.path, () => guidePage(facts));
  page(ERRORS_PATH, () => errorsPage(errorCatalogue()));
  const start = () => layout(site, startPage(site, { ...facts, version: softwareVersion() }));
  const prefix = publicPrefix(publicBaseUrl);
  // RFC 8631.
  const linksForPrograms = [
    `<${prefix}/docs>; rel="service-doc"; type="text/html"`,
    `<${prefix}/docs/openapi.json>; rel="service-desc"; type="application/json"`,
    `<${prefix}/health/ready>; rel="status"`,
  ].join(', ');
  servePage(application, '/', new ServedAsset('.html', start), {
    // A client whose `Accept` does not include HTML gets the Error body.
    respondsTo: (request, response) => {
      if (prefersHtml(request, response)) return true;
      response.setHeader('Link', linksForPrograms);
      return false;
    },
  });
  serveMissing(application, (path) => layout(site, missingPage(site, path)));
}
