// @ts-check
// The frame of the page: the view of each address, the session, the color scheme.
import { isHolder, me } from './admin-api.js';
import { UUID, pathOf } from './address.js';
import { showAudit } from './audit-view.js';
import { showClient } from './client-view.js';
import { showClients } from './clients-view.js';
import { byId, el, replaceContent, setText } from './elements.js';
import { showEndpoint } from './endpoint-view.js';
import { showEndpoints } from './endpoints-view.js';
import { showOverview } from './overview-view.js';
import { showRequests } from './requests-view.js';
import { searchFor, showSearch } from './search-view.js';
import { showView } from './sections.js';
import { forgetKey, keyOfTab } from './session.js';
import { showSignIn } from './sign-in-view.js';
import { refreshTimes } from './times.js';

const THEME = 'petstore-theme';
const THEMES = ['system', 'light', 'dark'];

/** The name of the page. */
const PAGE = isHolder ? 'Account' : 'Console';
/** The navigation: the addresses that it links to, with their names. @type {readonly (readonly [string, string])[]} */
const ENTRIES = isHolder
  ? [
      ['#/', 'Account'],
      ['#/requests', 'Last errors'],
      ['../docs/guides/using-the-api', 'Guide'],
      ['../docs/errors', 'Error codes'],
    ]
  : [
      ['#/', 'Overview'],
      ['#/clients', 'Clients'],
      ['#/webhooks', 'Webhooks'],
      ['#/requests', 'Errors'],
      ['#/audit', 'Audit'],
    ];

/** @typedef {(main: Element, signal: AbortSignal, id: string) => unknown} View */
/** @typedef {readonly [address: RegExp, entry: string, title: string, view: View]} Row */
/** The start view. @type {Row} */
const HOME = isHolder
  ? [/^(?:#\/?)?$/, '#/', 'Account', showClient]
  : [/^(?:#\/?)?$/, '#/', 'Overview', showOverview];
/** @type {readonly Row[]} */
const OF_OPERATORS = [
  [/^#\/clients$/, '#/clients', 'Clients', showClients],
  [/^#\/search$/, '', 'Search', showSearch],
  [new RegExp(`^#/clients/(${UUID})$`), '#/clients', 'Client', showClient],
  [new RegExp(`^#/audit(?:/(${UUID}))?$`), '#/audit', 'Audit trail', showAudit],
  [/^#\/webhooks$/, '#/webhooks', 'Webhooks', showEndpoints],
];
/** The entry in the navigation, the title and the view of each address. @type {readonly Row[]} */
const VIEWS = [
  HOME,
  [new RegExp(`^#/webhooks/(${UUID})$`), isHolder ? '#/' : '#/webhooks', 'Webhook', showEndpoint],
  [/^#\/requests$/, '#/requests', 'Last errors', showRequests],
  ...(isHolder ? [] : OF_OPERATORS),
];

/** The view of any other address. @type {Row} */
const ELSEWHERE = [/^/, '', 'No such page', showElsewhere];

const main = byId('main');
byId('page').textContent = PAGE.toLowerCase();
let shown = new AbortController();
let first = true;

function show() {
  shown.abort();
  shown = new AbortController();
  const isIn = keyOfTab() !== null;
  byId('nav').hidden = !isIn;
  byId('signed-in').hidden = !isIn;
  byId('find').hidden = !isIn || isHolder;
  if (!isIn) {
    document.title = `Sign in · ${PAGE}`;
    showSignIn(main, show);
    return;
  }
  const [pattern, entry, title, view] = VIEWS.find(([address]) => address.test(pathOf())) ?? ELSEWHERE;
  replaceContent(
    byId('nav'),
    ENTRIES.map(([href, name]) => el('a', { href, 'aria-current': href === entry && 'page' }, name)),
  );
  document.title = `${title} · ${PAGE}`;
  void showRights();
  view(main, shown.signal, pattern.exec(pathOf())?.[1] ?? '');
  // Screen readers start at the beginning of the new view, but read a newly loaded page as usual.
  if (!first) main.focus({ preventScroll: true });
  if (!first) scrollTo(0, 0);
  first = false;
}

/** The view of an unknown address. @param {Element} at */
function showElsewhere(at) {
  showView(
    at,
    { title: 'No such page' },
    el(
      'p',
      'There is no view at ',
      el('code', location.hash),
      '. ',
      el('a', { href: '#/' }, 'Go to the overview'),
    ),
  );
}

/** Shows who is signed in, and hides controls that a read-only key cannot use. */
async function showRights() {
  const isTest = /^[a-z\d]+_test_/.test(keyOfTab() ?? '');
  setText(byId('environment'), isTest ? 'Test' : 'Live');
  byId('environment').classList.toggle('bad', !isTest);
  const who = await me().catch(() => undefined);
  replaceContent(byId('who'), who && el('bdi', who.client.name), who && el('code', `${who.key.prefix}…`));
  const readsOnly = who !== undefined && !who.key.scopes.includes(isHolder ? 'account' : 'admin');
  document.body.classList.toggle('reads-only', readsOnly);
}

document.querySelector('.skip')?.addEventListener('click', (event) => {
  // The hash names the view, so it cannot refer to an element within the view.
  event.preventDefault();
  main.focus();
});

const theme = byId('theme');
const nameTheme = () => {
  const name = `Colors: ${document.documentElement.dataset.theme ?? 'system'}`;
  theme.setAttribute('aria-label', name);
  theme.title = name;
};
theme.addEventListener('click', () => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? '') + 1) % THEMES.length];
  document.documentElement.dataset.theme = next;
  localStorage.setItem(THEME, next ?? 'system');
  nameTheme();
});
nameTheme();

byId('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = byId('find-text');
  if (!(text instanceof HTMLInputElement) || text.value.trim() === '') return;
  location.hash = searchFor(text.value);
  text.value = '';
});

byId('sign-out').addEventListener('click', () => forgetKey());
addEventListener('petstore:session', show);
addEventListener('hashchange', show);
setInterval(refreshTimes, 5_000);
show();
