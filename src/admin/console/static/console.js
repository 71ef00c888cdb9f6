// @ts-check
// The frame: which view is shown for which address, the session, the colours.
import { showAudit } from './audit-view.js';
import { showClient } from './client-view.js';
import { showClients } from './clients-view.js';
import { byId } from './elements.js';
import { showRequests } from './requests-view.js';
import { forgetKey, keyOfTab } from './session.js';
import { showSignIn } from './sign-in-view.js';
import { refreshTimes } from './times.js';

const THEME = 'petstore-theme';
const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** @type {readonly (readonly [RegExp, string, string, (main: Element, signal: AbortSignal, id: string | undefined) => void])[]} */
const VIEWS = [
  [
    new RegExp(`^#/clients/(${UUID})$`),
    'clients',
    'Client',
    (main, signal, id) => showClient(main, signal, id ?? ''),
  ],
  [new RegExp(`^#/requests(?:/(${UUID}))?$`), 'requests', 'Last errors', showRequests],
  [new RegExp(`^#/audit(?:/(${UUID}))?$`), 'audit', 'Audit trail', showAudit],
  [/^/, 'clients', 'Clients', showClients],
];

const main = byId('main');
let shown = new AbortController();
let first = true;

function show() {
  shown.abort();
  shown = new AbortController();
  const isIn = keyOfTab() !== null;
  byId('nav').hidden = !isIn;
  byId('sign-out').hidden = !isIn;
  if (!isIn) {
    document.title = 'Sign in · Console';
    showSignIn(main, show);
    return;
  }
  const [pattern, name, title, view] = VIEWS.find(([address]) => address.test(location.hash)) ?? VIEWS[0];
  for (const link of document.querySelectorAll('#nav a')) {
    const isCurrent = link instanceof HTMLElement && link.dataset.view === name;
    if (isCurrent) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${title} · Console`;
  view(main, shown.signal, pattern.exec(location.hash)?.[1]);
  // The new view is read from its beginning; a page that was just loaded is read as any other.
  if (!first) main.focus({ preventScroll: true });
  if (!first) scrollTo(0, 0);
  first = false;
}

document.querySelector('.skip')?.addEventListener('click', (event) => {
  // The address tells the view, so it cannot tell the place too.
  event.preventDefault();
  main.focus();
});

const theme = byId('theme');
if (theme instanceof HTMLSelectElement) {
  theme.value = document.documentElement.dataset.theme ?? 'system';
  theme.addEventListener('change', () => {
    if (theme.value === 'system') {
      localStorage.removeItem(THEME);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(THEME, theme.value);
      document.documentElement.dataset.theme = theme.value;
    }
  });
}

byId('sign-out').addEventListener('click', () => forgetKey());
addEventListener('petstore:session', show);
addEventListener('hashchange', show);
setInterval(refreshTimes, 5_000);
show();
