// @ts-check
// The overview: the requests of the last 60 minutes and of today, and the clients behind each number.
import { request } from './admin-api.js';
import { addressOf } from './address.js';
import { STATES } from './clients-view.js';
import { el, number, replaceContent } from './elements.js';
import { poll } from './polling.js';
import { card, showView } from './sections.js';

/** Lists to link to instead of the list of clients, by state. @type {Readonly<Record<string, string>>} */
const LINKED_LISTS = { failing: '#/webhooks' };

/** States that require action; the others are informational. */
const URGENT = new Set(['refused', 'banned', 'failing']);

/** @param {Element} main @param {AbortSignal} signal */
export function showOverview(main, signal) {
  const traffic = el('div.tiles');
  const states = el('ul.states');
  const refused = el('div');
  const deprecated = el('div');
  const calls = card('Deprecated operations called today', null, deprecated);
  calls.hidden = true;
  let shown = '';
  poll(async () => {
    const { body } = await request('GET', 'overview', { signal });
    if (shown === JSON.stringify(body)) return;
    shown = JSON.stringify(body);
    replaceContent(traffic, body.traffic.map(trafficOf));
    replaceContent(
      states,
      el('li', el('a', { href: '#/clients' }, el('b', number(body.clients)), ' clients')),
      body.states.map(stateOf),
      el(
        'li',
        el(
          'a',
          { href: addressOf('#/webhooks', { state: 'disabled' }) },
          el('b'),
          'disabled webhook endpoints',
        ),
      ),
    );
    replaceContent(refused, refusedOf(body.refusedMost));
    calls.hidden = body.deprecated.length === 0;
    replaceContent(deprecated, deprecatedOf(body.deprecated));
  }, signal);
  replaceContent(traffic, el('p.note', { role: 'status' }, 'Loading…'));
  showView(
    main,
    { title: 'Overview' },
    traffic,
    el(
      'div.columns',
      card('Refused most in this or the previous hour', null, refused),
      card('Clients', null, states),
      el('div.wide', calls),
    ),
    el(
      'p.note',
      'Requests without a client’s key appear only in the log of the service, with their addresses. The numbers include ' +
        'deleted clients, but the linked lists do not. The list of errors contains the last 200 errors of each client.',
    ),
    el('p.note', 'Updates every 5 seconds while this tab is visible. Days are in UTC.'),
  );
}

/** The requests since an instant. @param {any} counted @param {number} at */
function trafficOf({ since, requests, clientErrors, serverErrors, refused, withoutKey }, at) {
  const state = at === 0 ? 'refused' : 'refused_today';
  /** @type {[string, number, string | null, string][]} */
  const tiles = [
    ['Requests', requests, null, ''],
    ['Refused (429)', refused, addressOf('#/clients', { state }), 'warn'],
    ['Other 4xx', clientErrors, addressOf('#/requests', { outcome: '4xx' }), ''],
    ['Failed (5xx)', serverErrors, addressOf('#/requests', { outcome: '5xx' }), 'bad'],
    ['No valid key', withoutKey, null, ''],
  ];
  const title = at === 0 ? 'Last 60 minutes' : `Today, ${since.slice(0, 10)}`;
  return card(
    title,
    null,
    el(
      'dl.figures',
      tiles.map(([name, value, href, tone]) =>
        el(
          'div',
          { class: value > 0 ? tone : null },
          el('dt', name),
          el('dd', href === null ? number(value) : el('a', { href }, number(value))),
        ),
      ),
    ),
  );
}

/** @param {{ state: string, clients: number }} counted */
function stateOf({ state, clients }) {
  const isUrgent = clients > 0 && URGENT.has(state);
  return el(
    'li',
    { class: clients === 0 ? 'nothing' : isUrgent ? 'urgent' : null },
    el(
      'a',
      { href: addressOf(LINKED_LISTS[state] ?? '#/clients', { state }) },
      el('b', number(clients)),
      ` ${(STATES[state] ?? state).toLowerCase()}`,
    ),
  );
}

/** @param {readonly any[]} clients */
function refusedOf(clients) {
  if (clients.length === 0) return el('p.note', 'No requests were refused with 429.');
  return el(
    'ol.ranks',
    clients.map(({ clientId, name, refused }) =>
      el(
        'li',
        el('a.row-name', { href: `#/clients/${clientId}`, dir: 'auto' }, name),
        el('span', `${number(refused)} refused`),
      ),
    ),
  );
}

/** @param {readonly any[]} operations */
function deprecatedOf(operations) {
  return el(
    'ul',
    operations.map(({ operation, calls }) =>
      el('li', el('code', operation), calls === 1 ? ' 1 call' : ` ${number(calls)} calls`),
    ),
    el('li', el('a', { href: addressOf('#/clients', { state: 'deprecated' }) }, 'Which clients call them')),
  );
}
