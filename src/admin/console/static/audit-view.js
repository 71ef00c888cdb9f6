// @ts-check
// Who changed what, latest first, in sentences; filtered, and as a file.
import { ask } from './admin-api.js';
import { fact } from './client-keys.js';
import { alone } from './dialogs.js';
import { Rows, el, put, say, written } from './elements.js';
import { choice, field } from './fields.js';
import { Pages } from './paging.js';
import { poll } from './polling.js';
import { when } from './times.js';

/** What was done, in words. @type {Readonly<Record<string, string>>} */
const DONE = {
  'client.created': 'made the client',
  'client.updated': 'changed the client',
  'client.suspended': 'suspended the client',
  'client.resumed': 'resumed the client',
  'client.deleted': 'deleted the client',
  'api_key.issued': 'issued a key of',
  'api_key.updated': 'changed a key of',
  'api_key.rotated': 'rotated a key of',
  'api_key.revoked': 'revoked a key of',
  'api_key.unbanned': 'lifted the ban of a key of',
  'outbox_event.retried': 'had delivered again',
  'outbox_event.discarded': 'deleted',
  'webhook_endpoint.created': 'made a webhook endpoint of',
  'webhook_endpoint.updated': 'changed a webhook endpoint of',
  'webhook_endpoint.deleted': 'deleted a webhook endpoint of',
  'webhook_endpoint.secret_rotated': 'rotated the secret of a webhook endpoint of',
  'webhook_endpoint.enabled': 'enabled a webhook endpoint of',
  'webhook_endpoint.disabled': 'disabled a webhook endpoint of',
};

/** Actions after which something works no more. */
const ENDS = new Set([
  'client.suspended',
  'client.deleted',
  'api_key.revoked',
  'outbox_event.discarded',
  'webhook_endpoint.deleted',
  'webhook_endpoint.disabled',
]);

/** Who is no key, in words. @type {Readonly<Record<string, string>>} */
const ACTORS = {
  user: 'A signed-in user',
  command_line: 'The command line',
  service: 'The service',
};
const DAY_MS = 86_400_000;

/** @param {Element} main @param {AbortSignal} signal @param {string} ofClient only what was done to this client; empty for all */
export function showAudit(main, signal, ofClient) {
  const clientId = ofClient || undefined;
  const list = el('ol', { class: 'stream', 'aria-label': 'Changes, latest first' });
  const rows = new Rows(list);
  const note = el('div', { class: 'note', role: 'status' });
  const subject = el('span', {}, clientId);
  /** @type {Pages<string>} */
  const pages = new Pages(() => poller.soon());
  /** @type {any[]} */
  let shown = [];
  let turnShown = -1;
  const action = choice('action', [['', 'All'], ...Object.keys(DONE).map((name) => pair(name, name))]);
  const actor = choice('actor', [['', 'Anybody'], ['key', 'An API key'], ...Object.entries(ACTORS)]);
  const days = ['First day (UTC)', 'Last day (UTC)'].map((label) => ({
    label,
    input: el('input', { type: 'date' }),
  }));
  const [since, until] = days.map(({ input }) => input);
  const filters = () => ({
    client: clientId,
    action: action.value || undefined,
    actor: actor.value || undefined,
    since: startOf(since.value, 0),
    until: startOf(until.value, DAY_MS),
  });
  const changed = () => {
    pages.reset();
    poller.soon();
  };
  const exported = alone(async () => {
    const { body } = await ask('GET', 'audit/export', { query: filters(), isFile: true });
    const href = URL.createObjectURL(new Blob([body], { type: 'text/csv' }));
    el('a', { href, download: 'audit.csv' }).click();
    URL.revokeObjectURL(href);
  });

  const poller = poll(
    async () => {
      const { place: cursor, turn } = pages.wanted;
      const { body, next } = await ask('GET', 'audit', {
        query: { limit: 25, ...filters(), cursor },
        signal,
      });
      const page = new Set(body.map((/** @type {any} */ { id }) => id));
      if (!pages.arrived(turn, next)) return;
      // What is read stays, and all that is newer, although newer changes push it off the page.
      const last = turn === turnShown ? shown.findLastIndex(({ id }) => rows.isRead(id)) : -1;
      shown = [...body, ...shown.slice(0, last + 1).filter(({ id }) => !page.has(id))];
      turnShown = turn;
      rows.show(shown, entryOf);
      say(note, shown.length === 0 ? 'There is no such change.' : '');
      const name = clientId && shown.find((change) => change.clientName !== null)?.clientName;
      if (name && subject.textContent !== name) put(subject, written(name));
    },
    signal,
    () => false,
  );

  put(
    main,
    el(
      'div',
      { class: 'view-head' },
      el('h1', {}, 'Audit trail'),
      el('button', { type: 'button', class: 'quiet', onclick: () => void exported() }, 'Export as CSV'),
    ),
    clientId !== undefined &&
      el(
        'p',
        { class: 'filter' },
        'Only changes of ',
        subject,
        ' and its keys. ',
        el('a', { href: '#/audit' }, 'Show all'),
      ),
    el(
      'form',
      { class: 'filters', 'aria-label': 'Filters', onchange: changed },
      field('Action', action),
      field('By', actor),
      days.map(({ label, input }) => field(label, input)),
    ),
    note,
    list,
    pages.bar,
  );
}

/** @param {string} value @param {string} text @returns {[string, string]} */
function pair(value, text) {
  return [value, text];
}

/** The instant so many milliseconds after a day begins; undefined for no day. @param {string} day @param {number} laterMs */
function startOf(day, laterMs) {
  return day === '' ? undefined : new Date(Date.parse(day) + laterMs).toISOString();
}

/** One change. @param {any} change */
function entryOf(change) {
  const { id, at, action, from, clientId, keyId, requestId, actor, actorKeyId, actorName, details } = change;
  const key = actorName === null ? 'A key that is gone' : ['The key ', written(actorName)];
  return el(
    'li',
    { class: ENDS.has(action) ? 'entry ends' : 'entry' },
    el(
      'p',
      { class: 'sentence' },
      el('b', {}, actor === 'key' ? key : (ACTORS[actor] ?? actor)),
      ` ${DONE[action] ?? `did ${action} to`} `,
      clientId === null ? eventInWords(action, details) : clientInWords(change),
      typeof details.prefix === 'string' && el('code', {}, ` ${details.prefix}…`),
      changesOf(details),
    ),
    el('p', { class: 'entry-meta' }, when(at), from !== null && ' · from ', from !== null && written(from)),
    el(
      'details',
      {},
      el('summary', {}, 'Details', el('span', { class: 'visually-hidden' }, ` of change ${id}`)),
      el(
        'dl',
        { class: 'facts' },
        fact('Action', el('code', {}, action)),
        fact('Change', String(id)),
        clientId !== null &&
          fact('Client', el('a', { href: `#/audit/${clientId}` }, el('code', { class: 'id' }, clientId))),
        keyId !== null && fact('Key', el('code', { class: 'id' }, keyId)),
        actorKeyId !== null && fact('Done with key', el('code', { class: 'id' }, actorKeyId)),
        requestId !== null && fact('Request', el('code', { class: 'id' }, requestId)),
      ),
      el('pre', { tabindex: '0', 'aria-label': 'Details as JSON' }, JSON.stringify(details, undefined, 2)),
    ),
  );
}

/** The client that something was done to; of one that is gone the name that the change has, or its id. @param {any} change */
function clientInWords({ clientId, clientName, details }) {
  if (clientName !== null) return el('a', { href: `#/clients/${clientId}` }, written(clientName));
  const name = details.name?.to ?? details.name;
  return el(
    'span',
    {},
    typeof name === 'string' ? written(name) : el('code', { class: 'id' }, clientId),
    ', which is gone',
  );
}

/** The durable event that something was done to, or how many. @param {string} action @param {any} details */
function eventInWords(action, { event, listener, events }) {
  if (!action.startsWith('outbox_event.')) return 'a client';
  if (typeof event !== 'string') return events === 1 ? '1 parked event' : `${events} parked events`;
  return el('span', {}, 'the event ', el('code', {}, event), ' for ', el('code', {}, listener));
}

/** What was changed from what to what. @param {any} details */
function changesOf(details) {
  const changed = Object.entries(details).filter(
    ([, value]) => value !== null && typeof value === 'object' && 'from' in value && 'to' in value,
  );
  return changed.flatMap(([name, value], at) => [
    at === 0 ? ': ' : ', ',
    `${name} from `,
    written(String(value.from)),
    ' to ',
    written(String(value.to)),
  ]);
}
