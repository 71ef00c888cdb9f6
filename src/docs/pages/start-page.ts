import { ERRORS_PATH } from '../../core/errors/help-link.js';
import type { ExampleOperations } from '../openapi/example-operations.js';
import { escapeHtml } from './html.js';
import { COMMANDS, type PageContent, type Site, relativeTo } from './layout.js';

/** Facts on the page at /. */
export interface StartFacts {
  /** Version of the API's document. */
  readonly apiVersion: string;
  readonly version: string;
  /** Whether the console is served on this port. */
  readonly hasConsole: boolean;
  /** The API's URL, such as `https://shop.example/v1`; the page's script replaces its origin with the origin that the browser used. */
  readonly api: () => string;
  readonly description: string;
  /** The start of its keys: `pst_live_…` in production, `pst_test_…` elsewhere. */
  readonly key: string;
  readonly examples: () => ExampleOperations;
}

/** The page at /, with links to all others. */
export function startPage(site: Site, facts: StartFacts): PageContent {
  const { apiVersion, version, description, hasConsole, key } = facts;
  const api = facts.api();
  const { list } = facts.examples();
  const [called, address] =
    list === undefined
      ? ['account', api.replace(/v1$/, 'account')]
      : [`v1${list}?limit=3`, `${api}${list}?limit=3`];
  const to = (path: string) => escapeHtml(relativeTo('/', path));
  const operators = hasConsole
    ? `\n    <p>For operators, with a key that has the scope <code>admin</code>: <a href="${to('/console')}">the console</a>.</p>`
    : '';
  return {
    title: site.name,
    path: '/',
    main: `  <main class="start" id="main" tabindex="-1">
    <h1>${escapeHtml(site.name)}</h1>
    <p class="lead">${escapeHtml(description)} Every request needs an API key, every response
      shows the remaining quota, and every error says what to do next.</p>
    ${cardsOf(site, '/')}
    <h2>The first request</h2>
    <p>With a key from the operator of this service:</p>
    <pre tabindex="0"><code>export KEY=${key}
curl -H "Authorization: Bearer $KEY" "<span data-api="${escapeHtml(called)}">${escapeHtml(address)}</span>"</code></pre>
    <p>To see your usage and manage your keys and webhooks, open <a href="${to('/account/')}">your account</a>.</p>${operators}
    <h2>This service</h2>
    <dl class="facts">
      <dt>URL of the API</dt><dd><code data-api="v1">${escapeHtml(api)}</code></dd>
      <dt>Version of the API</dt><dd>${escapeHtml(apiVersion)}</dd>
      <dt>Version of the software</dt><dd>${escapeHtml(version)}</dd>
      <dt>Health</dt><dd><a href="${to('/health/ready')}">ready</a>, <a href="${to('/health/live')}">live</a></dd>
    </dl>
  </main>`,
    scripts: [COMMANDS],
  };
}

/** The page for a path that does not exist. */
export function missingPage(site: Site, path: string): PageContent {
  return {
    title: 'Not found',
    path,
    main: `  <main class="start" id="main" tabindex="-1">
    <h1>Not found</h1>
    <p class="lead">This page does not exist. You may be looking for one of the following:</p>
    ${cardsOf(site, path)}
  </main>`,
  };
}

/** Links from a page to others. */
function cardsOf({ documents, guides }: Site, from: string): string {
  const reference = documents.map((page, at) => (at === 0 ? { ...page, label: 'API reference' } : page));
  const cards = [...reference, ...guides, { label: 'OpenAPI document', path: '/docs/openapi.json' }].map(
    ({ label, path }) =>
      `<li><a href="${escapeHtml(relativeTo(from, path))}"><strong>${escapeHtml(label)}</strong><span>${escapeHtml(TEXTS[path] ?? '')}</span></a></li>`,
  );
  return `<ul class="cards">${cards.join('')}</ul>`;
}

const TEXTS: Readonly<Record<string, string>> = {
  '/docs': 'Every operation with its schemas and responses. You can try each operation in the browser.',
  '/docs/openapi.json': 'For Postman and client generators, also as openapi.yaml.',
  '/docs/admin': 'Clients, keys, usage and the audit trail, for a key with the scope admin.',
  '/docs/account': 'The operations for key holders: usage, keys and webhooks.',
  '/docs/guides/using-the-api':
    'Pagination, conditional requests, safe retries and quotas, with examples to paste.',
  [ERRORS_PATH]: 'Every error code with its cause and remedy.',
  '/docs/search': 'Find an operation, a section of the guide, or an error code.',
};
