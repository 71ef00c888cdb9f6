// @ts-check
// The results of a search: clients, keys and requests.
import { request } from './admin-api.js';
import { addressOf, inAddress } from './address.js';
import { errorMessage } from './dialogs.js';
import { el, replaceContent, written } from './elements.js';
import { poll } from './polling.js';
import { showView } from './sections.js';

/** Matches the displayable part of a whole key. The rest is secret and must not be in an address. */
const KEY = /^([a-z][a-z\d]{1,9}_(?:live|test)_\w{4})\w+$/;

/** The service's maximum number of results of one kind. */
const MOST = 10;

const KINDS = /** @type {const} */ ({ client: 'Client', key: 'Key', request: 'Request' });

/** The address of a search. @param {string} text */
export function searchFor(text) {
  return addressOf('#/search', { text: text.trim().replace(KEY, '$1') });
}

/** @param {Element} main @param {AbortSignal} signal */
export function showSearch(main, signal) {
  const text = inAddress('text');
  const note = el('p.note', { role: 'status' }, 'Loading…');
  const list = el('ul.rows', { 'aria-label': 'Search results' });
  let isFirst = true;
  poll(
    async () => {
      const { body } = await request('GET', 'search', { query: { text }, signal });
      // A single result is opened directly.
      if (isFirst && body.length === 1) {
        location.replace(hrefOf(body[0]));
        return;
      }
      if (!isFirst) return;
      isFirst = false;
      replaceContent(list, body.map(rowOf));
      replaceContent(
        note,
        body.length === 0 &&
          'No client, key or recent error matches this name, id, label or beginning of a key. Requests without a client’s key appear only in the log.',
        body.filter((/** @type {any} */ { kind }) => kind === 'client').length === MOST &&
          el(
            'a',
            { href: addressOf('#/clients', { name: text }) },
            'All clients whose name contains this text',
          ),
      );
    },
    signal,
    (refusal) => {
      if (!refusal.is('validation_failed')) return false;
      replaceContent(note, errorMessage(refusal));
      return true;
    },
  );
  showView(main, { title: 'Search' }, el('p.filter', 'Results for ', written(text)), note, list);
}

/** @param {any} found */
function hrefOf({ kind, id, clientId }) {
  if (kind === 'request') return addressOf('#/requests', { requestId: id });
  return addressOf(`#/clients/${clientId}`, kind === 'key' ? { key: id } : {});
}

/** @param {any} found */
function rowOf(found) {
  const kind = KINDS[/** @type {keyof typeof KINDS} */ (found.kind)];
  return el(
    'li.entry',
    el('p.sentence', el('span.badge', kind), ' ', el('a', { href: hrefOf(found) }, written(found.title))),
    found.kind !== 'client' &&
      el('p.entry-meta', 'of ', found.clientName === null ? 'a deleted client' : written(found.clientName)),
  );
}
