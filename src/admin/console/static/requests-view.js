// @ts-check
// A table of the last requests that returned an error, optionally filtered.
import { isHolder } from './admin-api.js';
import { Filters, addressOf, inAddress } from './address.js';
import { choice, field } from './controls.js';
import { el, idOf, replaceContent, written } from './elements.js';
import { PagedList } from './lists.js';
import { poll } from './polling.js';
import { showView, tableOf } from './sections.js';
import { when } from './times.js';

/** Number of characters of a request's id in a row. */
const SHORT = 8;

/** @param {Element} main @param {AbortSignal} signal */
export function showRequests(main, signal) {
  const search = (/** @type {Record<string, string | number>} */ more) =>
    el('input', { type: 'search', autocomplete: 'off', ...more });
  const requestId = search({ maxlength: 128 });
  const code = search({ maxlength: 96, placeholder: 'key_not_found' });
  const operation = search({ maxlength: 200, placeholder: 'GET /account' });
  const outcome = choice('outcome', [
    ['', 'Any'],
    ['429', 'Refused (429)'],
    ['4xx', 'Other 4xx'],
    ['5xx', 'Failed (5xx)'],
  ]);
  /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
  const controls = isHolder ? { requestId } : { requestId, outcome, code, operation };
  const client = inAddress('client');
  const subject = el('span', client);
  const filters = new Filters(controls, () => requests.restart(), isHolder ? [] : ['client']);
  const body = el('tbody', { role: 'rowgroup' });
  const requests = new PagedList('requests', rowOf, {
    list: body,
    none: 'There are no matching requests. Requests without a client’s key appear only in the log.',
    changed: () => poller.soon(),
    query: () => filters.query,
  });
  const titles = [
    'Time',
    'Outcome',
    'Operation',
    ...(isHolder ? [] : ['Client']),
    'Key',
    'Address',
    'Request',
  ];
  const room = { tabindex: '0', role: 'region', 'aria-label': 'Requests, latest first' };
  const table = el('div.table-room.high.blocks', room, tableOf(titles, body));
  table.hidden = true;
  const poller = poll(async () => {
    const shown = await requests.refresh(signal);
    table.hidden = shown.length === 0;
    const name = client && shown[0]?.clientName;
    if (name && subject.textContent !== name) replaceContent(subject, written(name));
  }, signal);
  const [note, , bar] = requests.parts;
  showView(
    main,
    { title: 'Last errors' },
    client !== '' &&
      el(
        'p.filter',
        'Only requests of ',
        el('a', { href: `#/clients/${client}` }, subject),
        '. ',
        el('a', { href: '#/requests' }, 'Show all'),
      ),
    el(
      'div.filters',
      { role: 'search', 'aria-label': 'Errors' },
      field('Find by X-Request-Id', requestId),
      !isHolder && field('Outcome', outcome),
      !isHolder && field('Code', code),
      !isHolder && field('Operation', operation),
    ),
    note,
    table,
    bar,
    el('p.note', 'The last 200 requests of each client that returned an error.'),
  );
}

/** @param {any} request */
function rowOf({ at, requestId, clientId, clientName, keyId, keyPrefix, operation, status, code, address }) {
  const only = (/** @type {Record<string, string>} */ filters, /** @type {string} */ text) =>
    isHolder || code === null ? text : el('a', { href: addressOf('#/requests', filters) }, text);
  const cell = (/** @type {string} */ name, /** @type {(import('./elements.js').Child)[]} */ ...content) =>
    el('td', { role: 'cell', class: `text ${name}` }, content);
  return el(
    'tr.entry',
    { role: 'row' },
    cell('at', when(at)),
    cell('', el('b', `${status} `), only({ code: code ?? '' }, code ?? ''), ' ', helpOf(code)),
    cell('', el('code', only({ operation }, operation))),
    !isHolder &&
      cell(
        'name',
        clientName === null
          ? idOf(clientId)
          : el('a', { href: `#/clients/${clientId}` }, written(clientName)),
      ),
    cell('', keyPrefix === null ? idOf(keyId) : el('code', `${keyPrefix}…`)),
    cell('', address ?? '–'),
    cell('', shortId(requestId)),
  );
}

/** Links to the cause and the remedy of an error. @param {string | null} code */
function helpOf(code) {
  if (code === null) return '';
  const attributes = { href: `../docs/errors#${code}`, 'aria-label': `Help for ${code}` };
  return el('a', attributes, 'Help');
}

/** The beginning of a request's id, linked to the view of that request. @param {string} id */
function shortId(id) {
  const short = id.length > SHORT + 1 ? `${id.slice(0, SHORT)}…` : id;
  return el('code.id', el('a', { href: addressOf('#/requests', { requestId: id }), title: id }, short));
}
