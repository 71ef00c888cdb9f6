import { ERRORS_PATH } from '../../core/errors/help-link.js';
import { escapeHtml } from './html.js';
import { ASSETS_PATH, type PageContent, type Site, relativeTo } from './layout.js';

/** What the page at / tells, besides what the site has. */
export interface StartFacts {
  /** Version of the API's document. */
  readonly apiVersion: string;
  /** Version of the software. */
  readonly version: string;
  /** Address of the API, such as `https://shop.example/v1`; the page puts there how the browser has reached it. */
  readonly api: string;
}

/** The page at /: what this is, and where to go from here. */
export function startPage(site: Site, { apiVersion, version, api }: StartFacts): PageContent {
  const to = (path: string) => escapeHtml(relativeTo('/', path));
  const cards = [
    ...site.documents.map(({ label, path }, at) => ({
      label: at === 0 ? 'API reference' : label,
      path,
      text:
        at === 0
          ? 'Every operation, with its schemas and answers; try them out in the browser.'
          : TEXTS[path],
    })),
    ...site.guides.map(({ label, path }) => ({ label, path, text: TEXTS[path] })),
    {
      label: 'OpenAPI document',
      path: '/docs/openapi.json',
      text: 'For Postman and generators of clients; openapi.yaml is the same.',
    },
  ].map(
    ({ label, path, text }) =>
      `<li><a href="${to(path)}"><strong>${escapeHtml(label)}</strong><span>${escapeHtml(text ?? '')}</span></a></li>`,
  );
  return {
    title: site.name,
    path: '/',
    main: `  <main class="start" id="main" tabindex="-1">
    <h1>${escapeHtml(site.name)}</h1>
    <p class="lead">A catalogue of the animals that a store offers, as an HTTP API. Every call carries an API key; every answer says
      what is left of its quota; every refusal says what to do next.</p>
    <ul class="cards">${cards.join('')}</ul>
    <h2>The first call</h2>
    <p>With a key that the operator of this service has given you:</p>
    <pre tabindex="0"><code>export KEY=pst_…
curl -H "Authorization: Bearer $KEY" "<span data-api="v1/pets?limit=3">${escapeHtml(api)}/pets?limit=3</span>"</code></pre>
    <h2>This service</h2>
    <dl class="facts">
      <dt>Address of the API</dt><dd><code data-api="v1">${escapeHtml(api)}</code></dd>
      <dt>Version of the API</dt><dd>${escapeHtml(apiVersion)}</dd>
      <dt>Version of the software</dt><dd>${escapeHtml(version)}</dd>
      <dt>Health</dt><dd><a href="${to('/health/ready')}">ready</a>, <a href="${to('/health/live')}">live</a></dd>
    </dl>
  </main>`,
    scripts: [`${ASSETS_PATH}/start.js`],
  };
}

const TEXTS: Readonly<Record<string, string>> = {
  '/docs/admin': 'Clients, keys, usage and the audit trail, for a key with the scope admin.',
  '/docs/account': 'What the holder of a key can see and change.',
  '/docs/guides/using-the-api': 'Paging, revalidation, safe retries and quotas, with lines to paste.',
  [ERRORS_PATH]: 'Every code that a refusal may have: its cause, and what to do.',
};
