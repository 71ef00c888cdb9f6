// @ts-check
// Who changed what, latest first, in sentences.
import { ask } from './admin-api.js';
import { arrange, el, put, say, written } from './elements.js';
import { clientOf, forgetNames, keyOf, learnFrom, learnNames } from './names.js';
import { Pages } from './paging.js';
import { poll } from './polling.js';
import { fact } from './client-keys.js';
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

/** @param {Element} main @param {AbortSignal} signal @param {string | undefined} clientId only what was done to this client */
export function showAudit(main, signal, clientId) {
  forgetNames();
  const list = el('ol', { class: 'stream', 'aria-label': 'Changes, latest first' });
  const note = el('div', { class: 'note', role: 'status' });
  const subject = el('span', {}, clientId);
  /** @type {Pages<string>} */
  const pages = new Pages(() => poller.soon());
  /** @type {Entry[]} */
  let entries = [];
  let turnShown = -1;
  const nameAll = () => {
    for (const entry of entries) entry.name();
    const name = clientId === undefined ? undefined : clientOf(clientId)?.name;
    if (name !== undefined && subject.textContent !== name) put(subject, written(name));
  };
  const poller = poll(
    async () => {
      const { place: cursor, turn } = pages.wanted;
      const { body, next } = await ask('GET', 'audit', {
        query: { limit: 25, client: clientId, cursor },
        signal,
      });
      const known = new Map(entries.map((entry) => [entry.id, entry]));
      const page = new Set(body.map((/** @type {any} */ { id }) => id));
      if (!pages.arrived(turn, next)) return;
      learnFrom(body);
      // What is read stays, and all that is newer, although newer changes push it off the page.
      const last = turn === turnShown ? entries.findLastIndex((entry) => entry.isRead()) : -1;
      const kept = entries.slice(0, last + 1).filter(({ id }) => !page.has(id));
      turnShown = turn;
      entries = [
        ...body.map((/** @type {any} */ change) => known.get(change.id) ?? new Entry(change)),
        ...kept,
      ];
      nameAll();
      arrange(
        list,
        entries.map(({ element }) => element),
      );
      say(note, entries.length === 0 ? 'Nothing was changed yet.' : '');
      try {
        await learnNames(
          new Set([clientId, ...entries.map(({ change }) => change.clientId)].filter(isThere)),
          new Set(entries.map(({ keyOfActor }) => keyOfActor).filter(isThere)),
          signal,
        );
      } finally {
        nameAll();
      }
    },
    signal,
    () => false,
  );

  put(
    main,
    el('div', { class: 'view-head' }, el('h1', {}, 'Audit trail')),
    clientId !== undefined &&
      el(
        'p',
        { class: 'filter' },
        'Only changes of ',
        subject,
        ' and its keys. ',
        el('a', { href: '#/audit' }, 'Show all'),
      ),
    note,
    list,
    pages.bar,
  );
}

/** @param {string | null | undefined} id @returns {id is string} */
function isThere(id) {
  return typeof id === 'string';
}

/** One change. Its names are filled in when they are known. */
class Entry {
  #named = '';

  /** @param {any} change */
  constructor(change) {
    const { at, action, from, clientId, keyId, requestId, actor, actorKeyId, details, id } = change;
    this.change = change;
    this.id = id;
    /** The key that did it, if it was one. @type {string | null} */
    this.keyOfActor = actor === 'key' ? actorKeyId : null;
    this.who = el('b');
    this.whom = el('span');
    /** Whether it was done to something of the client, and not to the client itself. */
    this.isOfClient = !action.startsWith('client.');
    this.more = el('details', {});
    put(
      this.more,
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
    );
    this.element = el(
      'li',
      { class: ENDS.has(action) ? 'entry ends' : 'entry' },
      el(
        'p',
        { class: 'sentence' },
        this.who,
        ` ${DONE[action] ?? `did ${action} to`} `,
        this.whom,
        typeof details.prefix === 'string' && [' ', el('code', {}, `${details.prefix}…`)],
        changesOf(details),
      ),
      el(
        'p',
        { class: 'entry-meta' },
        when(at),
        from !== null && [' · from ', el('bdi', { class: 'written' }, from)],
      ),
      this.more,
    );
  }

  /** Whether somebody reads it: its details are open, or the focus is in it. */
  isRead() {
    return this.more.open || this.element.contains(document.activeElement);
  }

  /** Names who did it to whom, as far as that is known. */
  name() {
    const { actor, action, clientId, details } = this.change;
    const key = this.keyOfActor === null ? undefined : keyOf(this.keyOfActor);
    const owner = key ? clientOf(key.clientId) : undefined;
    const client = clientId === null ? undefined : clientOf(clientId);
    const named = JSON.stringify([key, owner, client]);
    if (named === this.#named) return;
    this.#named = named;
    put(this.who, actor === 'key' ? keyInWords(key, owner?.name) : (ACTORS[actor] ?? actor));
    const focused = this.whom.contains(document.activeElement);
    if (clientId !== null) put(this.whom, clientInWords(clientId, client, this.isOfClient));
    else put(this.whom, action.startsWith('outbox_event.') ? eventInWords(details) : 'a client');
    if (focused) this.whom.querySelector('a')?.focus();
  }
}

/** Who is no key, in words. @type {Readonly<Record<string, string>>} */
const ACTORS = {
  user: 'A signed-in user',
  command_line: 'The command line',
  service: 'The service',
};

/**
 * A key that did something: an operator's, or the client's own. Undefined is not known yet, null is gone.
 * @param {import('./names.js').KnownKey | null | undefined} key
 * @param {string | undefined} owner
 */
function keyInWords(key, owner) {
  if (!key) return key === null ? 'A key that is gone' : 'An API key';
  return ['The key ', written(key.name), ...(owner === undefined ? [] : [' of ', written(owner)])];
}

/**
 * The client that something was done to, by its id as long as its name is not known.
 * @param {string} id
 * @param {import('./names.js').KnownClient | undefined} client
 * @param {boolean} isOfClient whether it was done to something of the client, such as a key
 */
function clientInWords(id, client, isOfClient) {
  const { name, isGone = false } = client ?? {};
  if (name !== undefined && !isGone) return el('a', { href: `#/clients/${id}` }, written(name));
  return [
    name === undefined && isOfClient && 'the client ',
    name === undefined ? el('code', { class: 'id' }, id) : written(name),
    isGone && ', which is gone',
  ].filter((part) => part !== false);
}

/** The durable event that something was done to, or how many. @param {any} details */
function eventInWords({ event, listener, events }) {
  if (typeof event !== 'string') return events === 1 ? '1 parked event' : `${events} parked events`;
  return ['the event ', el('code', {}, event), ' for ', el('code', {}, listener)];
}

/** What was changed from what to what. @param {any} details */
function changesOf(details) {
  const changed = Object.entries(details).filter(
    ([, value]) => value !== null && typeof value === 'object' && 'from' in value && 'to' in value,
  );
  return changed.flatMap(([field, value], at) => [
    at === 0 ? ': ' : ', ',
    `${field} from `,
    written(String(value.from)),
    ' to ',
    written(String(value.to)),
  ]);
}
