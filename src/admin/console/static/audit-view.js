// @ts-check
// The audit trail in sentences, latest first, with filters and an export.
import { request } from './admin-api.js';
import { Filters, inAddress } from './address.js';
import { eraseClient } from './changes.js';
import { button, choice, download, field } from './controls.js';
import { el, idOf, replaceContent, written } from './elements.js';
import { PagedList } from './lists.js';
import { poll } from './polling.js';
import { facts, showView } from './sections.js';
import { when } from './times.js';

/** Descriptions of actions. @type {Readonly<Record<string, string>>} */
const DONE = {
  'client.created': 'created the client',
  'client.updated': 'changed the client',
  'client.suspended': 'suspended the client',
  'client.resumed': 'resumed the client',
  'client.deleted': 'deleted the client',
  'client.erased': 'erased the names of the client',
  'api_key.issued': 'issued the key',
  'api_key.updated': 'changed the key',
  'api_key.rotated': 'rotated the key',
  'api_key.revoked': 'revoked the key',
  'api_key.unbanned': 'lifted the ban of the key',
  'outbox_event.retried': 'retried',
  'outbox_event.discarded': 'deleted',
  'webhook_endpoint.created': 'created the webhook endpoint',
  'webhook_endpoint.updated': 'changed the webhook endpoint',
  'webhook_endpoint.deleted': 'deleted the webhook endpoint',
  'webhook_endpoint.secret_rotated': 'rotated the secret of the webhook endpoint',
  'webhook_endpoint.enabled': 'enabled the webhook endpoint',
  'webhook_endpoint.disabled': 'disabled the webhook endpoint',
};

/** Actions after which something no longer works. */
const ENDS = /suspended|deleted|revoked|discarded|disabled/;

/** Descriptions of actors other than keys. @type {Readonly<Record<string, string>>} */
const ACTORS = {
  user: 'A signed-in user',
  command_line: 'The command line',
  service: 'The service',
};
const DAY_MS = 86_400_000;

/** @param {Element} main @param {AbortSignal} signal @param {string} inPath a client to show only its changes; empty for the client in the query, or all clients */
export function showAudit(main, signal, inPath) {
  const client = inPath || inAddress('client');
  const subject = el('span', client);
  const action = choice('action', [
    ['', 'All'],
    ...Object.keys(DONE).map((name) => /** @type {const} */ ([name, name])),
  ]);
  const actor = choice('actor', [['', 'Anybody'], ['key', 'An API key'], ...Object.entries(ACTORS)]);
  // A maximum limits the year to four digits in the browser, and the following day is still valid for the service.
  const days = { type: 'date', max: '9999-12-30' };
  const [since, until] = [el('input', days), el('input', days)];
  const filters = new Filters(
    { action, actor, since, until },
    () => changes.restart(),
    inPath === '' ? ['client'] : [],
  );
  const query = () => ({
    ...filters.query,
    client: client || undefined,
    since: startOf(since.value, 0),
    until: startOf(until.value, DAY_MS),
  });
  const changes = new PagedList('audit', entryOf, {
    list: el('ol.rows', { 'aria-label': 'Changes, latest first' }),
    none: 'There are no matching changes.',
    changed: () => poller.soon(),
    query,
    keepsRead: true,
  });
  const save = async () => {
    const { body } = await request('GET', 'audit/export', { query: query(), isFile: true });
    download(body, 'text/csv', 'audit.csv');
  };
  const poller = poll(async () => {
    const shown = await changes.refresh(signal);
    const name = client && shown.find((change) => change.clientName !== null)?.clientName;
    if (name && subject.textContent !== name) replaceContent(subject, written(name));
    const isDone = (/** @type {string} */ what) => shown.some((change) => change.action === what);
    eraseButton.hidden = client === '' || !isDone('client.deleted') || isDone('client.erased');
  }, signal);
  const erase = async () => (await eraseClient(client)) && poller.soon();
  const eraseButton = button('Erase the names', erase, '.quiet.danger-text.changes');
  eraseButton.hidden = true;

  showView(
    main,
    { title: 'Audit trail', buttons: [button('Export as CSV', save), eraseButton] },
    client !== '' &&
      el(
        'p.filter',
        'Only changes of ',
        subject,
        ' and its keys. ',
        el('a', { href: '#/audit' }, 'Show all'),
      ),
    el(
      'form.filters',
      { 'aria-label': 'Filters' },
      field('Action', action),
      field('By', actor),
      field('First day (UTC)', since),
      field('Last day (UTC)', until),
    ),
    ...changes.parts,
  );
}

/** The instant this many milliseconds after the start of a day; undefined without a day. @param {string} day @param {number} laterMs */
function startOf(day, laterMs) {
  return day === '' ? undefined : new Date(Date.parse(day) + laterMs).toISOString();
}

/** One change. @param {any} change */
function entryOf(change) {
  const { id, at, action, from, clientId, keyId, requestId, actor, actorKeyId, actorName, details } = change;
  const { endpointId, prefix } = details;
  const key = actorName === null ? 'A deleted key' : ['The key ', written(actorName)];
  return el(
    ENDS.test(action) ? 'li.entry.ends' : 'li.entry',
    el(
      'p.sentence',
      el('b', actor === 'key' ? key : (ACTORS[actor] ?? actor)),
      ` ${DONE[action] ?? `performed ${action} for`} `,
      partText(change),
      clientId === null ? eventText(action, details) : clientText(change),
      action === 'api_key.rotated' &&
        typeof prefix === 'string' && ['; the new key is ', el('code', `${prefix}…`)],
      changesOf(details),
    ),
    el('p.entry-meta', when(at), from !== null && [' · from ', written(from)]),
    el(
      'details',
      el('summary', 'Details', el('span.visually-hidden', ` of change ${id}`)),
      facts([
        ['Action', el('code', action)],
        ['Change', String(id)],
        clientId !== null && ['Changes of this client', idOf(clientId, `#/audit/${clientId}`)],
        keyId !== null && ['Key', idOf(keyId)],
        typeof endpointId === 'string' && ['Endpoint', idOf(endpointId, `#/webhooks/${endpointId}`)],
        actorKeyId !== null && ['Changed with key', idOf(actorKeyId)],
        requestId !== null && ['Request', idOf(requestId)],
      ]),
      el('pre', { tabindex: '0', 'aria-label': 'Details as JSON' }, JSON.stringify(details, undefined, 2)),
    ),
  );
}

/** The name of the changed key or endpoint; empty if the client itself was changed. @param {any} change */
function partText({ keyId, keyPrefix, endpointName, details }) {
  if (typeof details.endpointId === 'string') {
    const name = endpointName ?? details.label ?? details.url?.to ?? details.url;
    return [typeof name === 'string' ? written(name) : idOf(details.endpointId), ' of '];
  }
  if (keyId === null) return [];
  return [keyPrefix === null ? idOf(keyId) : el('code', `${keyPrefix}…`), ' of '];
}

/** The changed client; if it was deleted, its name in the change or its id. @param {any} change */
function clientText({ clientId, clientName, details }) {
  if (clientName !== null) return el('a', { href: `#/clients/${clientId}` }, written(clientName));
  const name = details.name?.to ?? details.name;
  return el('span', typeof name === 'string' ? written(name) : idOf(clientId), ' (deleted)');
}

/** The changed durable event, or the number of changed events. @param {string} action @param {any} details */
function eventText(action, { event, listener, events }) {
  if (!action.startsWith('outbox_event.')) return 'a client';
  if (typeof event !== 'string') return events === 1 ? '1 parked event' : `${events} parked events`;
  return el('span', 'the event ', el('code', event), ' for ', el('code', listener));
}

/** The changed properties with their old and new values. @param {any} details */
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
