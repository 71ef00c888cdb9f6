// @ts-check
// All clients with what they use now, a page at a time.
import { ask } from './admin-api.js';
import { createClient } from './changes-of-client.js';
import { alone, faultOf } from './dialogs.js';
import { Rows, el, number, put, say } from './elements.js';
import { Pages } from './paging.js';
import { Meter } from './plots.js';
import { poll } from './polling.js';
import { when } from './times.js';

/** What was looked for last, so that coming back from a client shows it again. */
let lookedFor = '';
/** Pause after the last letter before it is looked for, in milliseconds. */
const TYPING_MS = 250;

/** @param {Element} main @param {AbortSignal} signal */
export function showClients(main, signal) {
  const search = el('input', {
    type: 'search',
    id: 'search',
    value: lookedFor,
    placeholder: 'Part of a name',
    autocomplete: 'off',
    maxlength: 255,
  });
  const found = el('p', { class: 'note', role: 'status' });
  const rows = new Rows(el('ul', { class: 'rows', 'aria-label': 'Clients' }));
  /** @type {Pages<string>} */
  const pages = new Pages(() => poller.soon());

  const poller = poll(
    async () => {
      const name = lookedFor.trim() === '' ? undefined : lookedFor.trim();
      const { place: cursor, turn } = pages.wanted;
      const { body, next } = await ask('GET', 'usage', {
        query: { days: 1, limit: 25, name, cursor },
        signal,
      });
      if (!pages.arrived(turn, next)) return;
      rows.show(body, rowOf);
      say(
        found,
        body.length > 0
          ? ''
          : name === undefined
            ? 'There are no clients yet.'
            : 'No client has this in its name.',
      );
    },
    signal,
    (refusal) => {
      // What is looked for is none that a name can have.
      if (!refusal.is('validation_failed')) return false;
      put(found, faultOf(refusal));
      return true;
    },
  );

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      lookedFor = search.value;
      pages.reset();
      poller.soon();
    }, TYPING_MS);
  });

  const make = alone(async () => {
    const made = await createClient();
    if (made) location.hash = `#/clients/${made.id}`;
  });

  put(
    main,
    el(
      'div',
      { class: 'view-head' },
      el('h1', {}, 'Clients'),
      el('button', { type: 'button', class: 'primary changes', onclick: () => void make() }, 'New client'),
    ),
    el('div', { class: 'search' }, el('label', { for: 'search' }, 'Find by name'), search),
    found,
    el(
      'div',
      { class: 'rows-head', 'aria-hidden': 'true' },
      ['Client', 'Plan', 'This minute', 'Today (UTC)', 'Last used'].map((name) => el('span', {}, name)),
    ),
    rows.list,
    pages.bar,
    el('p', { class: 'note' }, 'Refreshed every 5 seconds while you look at it.'),
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
  return el(
    'li',
    { class: suspendedAt === null ? 'row' : 'row suspended' },
    el(
      'div',
      { class: 'row-who' },
      el('a', { href: `#/clients/${id}`, class: 'row-name', dir: 'auto', 'data-action': `show ${id}` }, name),
      el('span', { class: 'badges' }, badgesOf(client)),
    ),
    el('div', { class: 'row-plan' }, el('span', { class: 'badge plan' }, plan)),
    meters,
    el(
      'div',
      { class: 'row-used' },
      el('span', { class: 'meter-name' }, 'Last used'),
      lastUsedAt === null ? 'never' : when(lastUsedAt),
    ),
  );
}

/** What is out of the ordinary of a client. @param {any} client with its usage */
export function badgesOf({ suspendedAt, bans, outcomes }) {
  const badges = [];
  const refused = outcomes.reduce(
    (/** @type {number} */ sum, /** @type {any} */ { outcome, lastHour }) =>
      sum + (outcome.startsWith('429') ? lastHour : 0),
    0,
  );
  if (refused > 0) badges.push(el('span', { class: 'badge warn' }, `${number(refused)} refused in 60 min`));
  if (suspendedAt !== null) badges.push(el('span', { class: 'badge bad' }, 'Suspended'));
  if (bans.length > 0)
    badges.push(
      el('span', { class: 'badge bad' }, bans.length === 1 ? '1 key banned' : `${bans.length} keys banned`),
    );
  return badges;
}
