// @ts-check
// The last requests that were answered with an error, of all clients or one, or those with one X-Request-Id.
import { ask, isHolder } from './admin-api.js';
import { el, put, say } from './elements.js';
import { fact } from './client-keys.js';
import { Pages } from './paging.js';
import { poll } from './polling.js';
import { when } from './times.js';

/** @param {Element} main @param {AbortSignal} signal @param {string} ofClient only requests of this client; empty for all */
export function showRequests(main, signal, ofClient) {
  const clientId = ofClient || undefined;
  let requestId = '';
  const search = el('input', { type: 'search', id: 'search', autocomplete: 'off', maxlength: 128 });
  const note = el('p', { class: 'note', role: 'status' });
  const list = el('ol', { class: 'stream', 'aria-label': 'Requests, latest first' });
  /** @type {Pages<string>} */
  const pages = new Pages(() => poller.soon());
  let shown = '';
  const poller = poll(
    async () => {
      const { place: cursor, turn } = pages.wanted;
      const query = { limit: 25, client: clientId, requestId: requestId || undefined, cursor };
      const { body, next } = await ask('GET', 'requests', { query, signal });
      if (!pages.arrived(turn, next)) return;
      say(note, body.length > 0 ? '' : 'No such request is kept. The log of the service has all requests.');
      if (JSON.stringify(body) === shown) return;
      shown = JSON.stringify(body);
      put(list, body.map(entryOf));
    },
    signal,
    () => false,
  );
  search.addEventListener('change', () => {
    requestId = search.value.trim();
    pages.reset();
    poller.soon();
  });
  put(
    main,
    el('div', { class: 'view-head' }, el('h1', {}, 'Last errors')),
    el('div', { class: 'search' }, el('label', { for: 'search' }, 'Find by X-Request-Id'), search),
    clientId !== undefined &&
      el(
        'p',
        { class: 'filter' },
        'Only requests of ',
        el('a', { href: `#/clients/${clientId}` }, 'one client'),
        '. ',
        el('a', { href: '#/requests' }, 'Show all'),
      ),
    note,
    list,
    pages.bar,
    el('p', { class: 'note' }, 'The last 200 of each client that were answered with an error.'),
  );
}

/** @param {any} request */
function entryOf({ at, requestId, clientId, keyId, operation, status, code, address }) {
  const idOf = (/** @type {string | null} */ id) => (id === null ? '–' : el('code', { class: 'id' }, id));
  return el(
    'li',
    { class: 'entry' },
    el('p', { class: 'sentence' }, el('b', {}, `${status} ${code ?? ''}`), ' ', el('code', {}, operation)),
    el('p', { class: 'entry-meta' }, when(at), address !== null && ` from ${address}`),
    el(
      'dl',
      { class: 'facts' },
      fact('Request', idOf(requestId)),
      isHolder || fact('Client', el('a', { href: `#/clients/${clientId}` }, idOf(clientId))),
      fact('Key', idOf(keyId)),
    ),
  );
}
