// @ts-check
// The frame: which view is shown for which address, the session, the colours.
import { isHolder, me } from './admin-api.js';
import { showAudit } from './audit-view.js';
import { showClient } from './client-view.js';
import { showClients } from './clients-view.js';
import { byId, el, put } from './elements.js';
import { showEndpoint } from './endpoint-view.js';
import { showEndpoints } from './endpoints-view.js';
import { showRequests } from './requests-view.js';
import { forgetKey, keyOfTab } from './session.js';
import { showSignIn } from './sign-in-view.js';
import { refreshTimes } from './times.js';

const THEME = 'petstore-theme';
const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** What the page is called. */
const PAGE = isHolder ? 'Account' : 'Console';
/** The names of the places that the page links to, by their addresses. @type {readonly (readonly [string, string])[]} */
const PLACES = isHolder
  ? [
      ['#/', 'Account'],
      ['#/requests', 'Last errors'],
      ['../docs/guides/using-the-api', 'Guide'],
      ['../docs/errors', 'Error codes'],
    ]
  : [
      ['#/clients', 'Clients'],
      ['#/webhooks', 'Webhooks'],
      ['#/requests', 'Errors'],
      ['#/audit', 'Audit'],
    ];

/** @typedef {(main: Element, signal: AbortSignal, id: string) => void} View */
/** @typedef {readonly [address: RegExp, place: string, title: string, view: View]} Row */
/** What is shown at any other address. @type {Row} */
const HOME = isHolder ? [/^/, '#/', 'Account', showClient] : [/^/, '#/clients', 'Clients', showClients];
/** @type {readonly Row[]} */
const OF_OPERATORS = [
  [new RegExp(`^#/clients/(${UUID})$`), '#/clients', 'Client', showClient],
  [new RegExp(`^#/audit(?:/(${UUID}))?$`), '#/audit', 'Audit trail', showAudit],
  [/^#\/webhooks$/, '#/webhooks', 'Webhooks', showEndpoints],
];
/** By address: the place that it belongs to, its title, and what shows it. @type {readonly Row[]} */
const VIEWS = [
  [new RegExp(`^#/webhooks/(${UUID})$`), isHolder ? '#/' : '#/webhooks', 'Webhook', showEndpoint],
  [new RegExp(`^#/requests(?:/(${UUID}))?$`), '#/requests', 'Last errors', showRequests],
  ...(isHolder ? [] : OF_OPERATORS),
];

const main = byId('main');
byId('page').textContent = PAGE.toLowerCase();
let shown = new AbortController();
let first = true;

function show() {
  shown.abort();
  shown = new AbortController();
  const isIn = keyOfTab() !== null;
  byId('nav').hidden = !isIn;
  byId('sign-out').hidden = !isIn;
  if (!isIn) {
    document.title = `Sign in · ${PAGE}`;
    showSignIn(main, show);
    return;
  }
  const [pattern, place, title, view] = VIEWS.find(([address]) => address.test(location.hash)) ?? HOME;
  put(
    byId('nav'),
    PLACES.map(([href, name]) => el('a', { href, 'aria-current': href === place && 'page' }, name)),
  );
  document.title = `${title} · ${PAGE}`;
  void showRights();
  view(main, shown.signal, pattern.exec(location.hash)?.[1] ?? '');
  // The new view is read from its beginning; a page that was just loaded is read as any other.
  if (!first) main.focus({ preventScroll: true });
  if (!first) scrollTo(0, 0);
  first = false;
}

/** Hides controls that a key with read access cannot use. */
async function showRights() {
  const who = await me().catch(() => undefined);
  const readsOnly = who !== undefined && !who.key.scopes.includes(isHolder ? 'account' : 'admin');
  document.body.classList.toggle('reads-only', readsOnly);
}

document.querySelector('.skip')?.addEventListener('click', (event) => {
  // The address names the view, so it cannot name a place in it too.
  event.preventDefault();
  main.focus();
});

const theme = byId('theme');
if (theme instanceof HTMLSelectElement) {
  theme.value = document.documentElement.dataset.theme ?? 'system';
  theme.addEventListener('change', () => {
    localStorage.setItem(THEME, theme.value);
    document.documentElement.dataset.theme = theme.value;
  });
}

byId('sign-out').addEventListener('click', () => forgetKey());
addEventListener('petstore:session', show);
addEventListener('hashchange', show);
setInterval(refreshTimes, 5_000);
show();
