// @ts-check
// All clients with their current usage, a page at a time.
import { createClient } from './changes.js';
import { button } from './controls.js';
import { faultOf } from './dialogs.js';
import { el, number, put } from './elements.js';
import { PagedList } from './lists.js';
import { Meter } from './plots.js';
import { poll } from './polling.js';
import { showView } from './sections.js';
import { when } from './times.js';

/** The last search, shown again after a visit to a client. */
let lookedFor = '';
/** Pause after the last letter before the search, in milliseconds. */
const TYPING_MS = 250;

/** @param {Element} main @param {AbortSignal} signal */
export function showClients(main, signal) {
  const attributes = { type: 'search', id: 'search', autocomplete: 'off', maxlength: 255 };
  const search = el('input', { ...attributes, value: lookedFor, placeholder: 'Part of a name' });
  const name = () => lookedFor.trim() || undefined;
  const clients = new PagedList('usage', rowOf, {
    list: el('ul.rows', { 'aria-label': 'Clients' }),
    none: 'There are no clients yet.',
    changed: () => poller.soon(),
    query: () => ({ days: 1, name: name() }),
  });
  const poller = poll(
    () => clients.refresh(signal, name() && 'No client name contains this text.'),
    signal,
    (refusal) => {
      // No name can contain this text.
      if (!refusal.is('validation_failed')) return false;
      put(clients.rows.note, faultOf(refusal));
      return true;
    },
  );

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      lookedFor = search.value;
      clients.restart();
    }, TYPING_MS);
  });

  const make = button(
    'New client',
    async () => {
      const made = await createClient();
      if (made) location.hash = `#/clients/${made.id}`;
    },
    '.primary.changes',
  );
  const titles = ['Client', 'Plan', 'This minute', 'Today (UTC)', 'Last used'].map((title) =>
    el('span', title),
  );
  const [note, list, bar] = clients.parts;
  showView(
    main,
    { title: 'Clients', buttons: [make] },
    el('div.search', el('label', { for: 'search' }, 'Find by name'), search),
    note,
    el('div.rows-head', { 'aria-hidden': 'true' }, titles),
    list,
    bar,
    el('p.note', 'Refreshed every 5 seconds while you look at it.'),
  );
}

/** @param {any} client with its usage */
function rowOf(client) {
  const { id, name, plan, windows, suspendedAt, lastUsedAt } = client;
  const meters = ['Minute', 'Day'].map((title) => {
    const meter = new Meter(title);
    meter.show(windows.find((/** @type {any} */ one) => one.name === title.toLowerCase()));
    return meter.element;
  });
  const link = { href: `#/clients/${id}`, dir: 'auto', 'data-action': `show ${id}` };
  return el(
    suspendedAt === null ? 'li.row' : 'li.row.suspended',
    el('div.row-who', el('a.row-name', link, name), el('span.badges', badgesOf(client))),
    el('div.row-plan', el('span.badge.plan', plan)),
    meters,
    el('div.row-used', el('span.meter-name', 'Last used'), when(lastUsedAt)),
  );
}

/** Badges for whatever is unusual about a client. @param {any} client with its usage */
export function badgesOf({ suspendedAt, bans, outcomes }) {
  let refused = 0;
  for (const { outcome, lastHour } of outcomes) if (outcome.startsWith('429')) refused += lastHour;
  const banned = bans.length === 1 ? '1 key banned' : `${bans.length} keys banned`;
  return [
    refused > 0 && el('span.badge.warn', `${number(refused)} refused in 60 min`),
    suspendedAt !== null && el('span.badge.bad', 'Suspended'),
    bans.length > 0 && el('span.badge.bad', banned),
  ];
}
