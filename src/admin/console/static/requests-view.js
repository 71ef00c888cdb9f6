// @ts-check
// The last requests that got an error, of all clients or one, or those with one X-Request-Id.
import { isHolder } from './admin-api.js';
import { el, idOf } from './elements.js';
import { PagedList } from './lists.js';
import { poll } from './polling.js';
import { showView, facts } from './sections.js';
import { when } from './times.js';

/** @param {Element} main @param {AbortSignal} signal @param {string} client only requests of this client; empty for all */
export function showRequests(main, signal, client) {
  const search = el('input', { type: 'search', id: 'search', autocomplete: 'off', maxlength: 128 });
  const requests = new PagedList('requests', entryOf, {
    list: el('ol.rows', { 'aria-label': 'Requests, latest first' }),
    none: 'No such request is kept. The log of the service has all requests.',
    changed: () => poller.soon(),
    query: () => ({ client: client || undefined, requestId: search.value.trim() || undefined }),
  });
  const poller = poll(() => requests.refresh(signal), signal);
  search.addEventListener('change', () => requests.restart());
  const filter = [
    'Only requests of ',
    el('a', { href: `#/clients/${client}` }, 'one client'),
    '. ',
    el('a', { href: '#/requests' }, 'Show all'),
  ];
  showView(
    main,
    { title: 'Last errors' },
    el('div.search', el('label', { for: 'search' }, 'Find by X-Request-Id'), search),
    client !== '' && el('p.filter', filter),
    ...requests.parts,
    el('p.note', 'The last 200 requests of each client that got an error.'),
  );
}

/** @param {any} request */
function entryOf({ at, requestId, clientId, keyId, operation, status, code, address }) {
  return el(
    'li.entry',
    el('p.sentence', el('b', `${status} ${code ?? ''}`), ' ', el('code', operation)),
    el('p.entry-meta', when(at), address !== null && ` from ${address}`),
    facts([
      ['Request', idOf(requestId)],
      !isHolder && ['Client', idOf(clientId, `#/clients/${clientId}`)],
      ['Key', idOf(keyId)],
    ]),
  );
}
