// @ts-check
// All or filtered clients with their current usage, one page at a time.
import { request } from './admin-api.js';
import { Filters, inAddress } from './address.js';
import { createClient } from './changes.js';
import { button, choice, field } from './controls.js';
import { errorMessage } from './dialogs.js';
import { el, number, replaceContent, setText } from './elements.js';
import { PagedList } from './lists.js';
import { Meter } from './plots.js';
import { poll } from './polling.js';
import { showView } from './sections.js';
import { when } from './times.js';

/** States of clients, in words. @type {Readonly<Record<string, string>>} */
export const STATES = {
  refused: 'Refused in this or the previous hour',
  refused_today: 'Refused today',
  near_limit: 'Near or at their daily limit',
  banned: 'With a banned key',
  suspended: 'Suspended',
  expiring: 'With a key expiring in 7 days',
  failing: 'With a failing webhook',
  deprecated: 'Calling deprecated operations',
};

/** @type {readonly (readonly [string, string])[]} */
const ORDERS = [
  ['', 'Oldest first'],
  ['-createdAt', 'Newest first'],
  ['name', 'By name, A to Z'],
  ['-name', 'By name, Z to A'],
];

/** The states whose clients are sorted by amount. */
const BY_STATE = /^(?:refused|near_limit|deprecated)/;

/** @param {Element} main @param {AbortSignal} signal */
export function showClients(main, signal) {
  const controls = {
    name: el('input', {
      type: 'search',
      autocomplete: 'off',
      maxlength: 255,
      placeholder: 'Part of a name',
    }),
    state: choice('state', [['', 'Any'], ...Object.entries(STATES)]),
    plan: choice('plan', [['', 'Any']]),
    sort: choice('sort', ORDERS),
  };
  // Until the plans are loaded, the only option is the plan in the address.
  addPlanOptions(controls.plan, inAddress('plan') === '' ? [] : [inAddress('plan')]);
  const filters = new Filters(controls, () => {
    updateSort();
    clients.restart();
  });
  const updateSort = () => {
    const isByState = BY_STATE.test(controls.state.value);
    if (isByState && !controls.sort.disabled) controls.sort.value = '';
    controls.sort.disabled = isByState;
    const [first] = controls.sort.options;
    if (first) setText(first, isByState ? 'Most first' : (ORDERS[0]?.[1] ?? ''));
  };
  updateSort();
  const clients = new PagedList('usage', rowOf, {
    list: el('ul.rows', { 'aria-label': 'Clients' }),
    none: 'There are no clients yet.',
    changed: () => poller.soon(),
    query: () => ({ days: 1, ...filters.query }),
  });
  let arePlansListed = false;
  const poller = poll(
    async () => {
      const shown = await clients.refresh(signal, filters.isAny ? noneOf(controls) : undefined);
      head.hidden = shown.length === 0;
      // Part of the poll, so that nothing is requested during a pause.
      if (arePlansListed) return;
      addPlanOptions(controls.plan, await fetchPlanNames(signal));
      arePlansListed = true;
    },
    signal,
    (refusal) => {
      // The service refuses a filter with text that no name can contain.
      if (!refusal.is('validation_failed')) return false;
      replaceContent(clients.rows.note, errorMessage(refusal));
      return true;
    },
  );

  const createButton = button(
    'New client',
    async () => {
      const created = await createClient();
      if (created) location.hash = `#/clients/${created.id}`;
    },
    '.primary.changes',
  );
  const titles = ['Client', 'Plan', 'This minute', 'Today (UTC)', 'Last used'].map((title) =>
    el('span', title),
  );
  const head = el('div.rows-head', { 'aria-hidden': 'true', hidden: true }, titles);
  const [note, list, bar] = clients.parts;
  showView(
    main,
    { title: 'Clients', buttons: [createButton] },
    el(
      'div.filters',
      { role: 'search', 'aria-label': 'Clients' },
      field('Find by name', controls.name),
      field('State', controls.state),
      field('Plan', controls.plan),
      field('Order', controls.sort),
    ),
    clients.count,
    note,
    head,
    list,
    bar,
    el(
      'p.note',
      'Updates every 5 seconds while this tab is visible. The URL of this page includes the filters.',
    ),
  );
}

/** The text for an empty list. @param {{ name: HTMLInputElement, state: HTMLSelectElement, plan: HTMLSelectElement }} controls */
function noneOf({ name, state, plan }) {
  if (state.value === '' && plan.value === '')
    return name.value.trim() && 'No client name contains this text.';
  return 'No client matches these filters.';
}

/** The plans in the filter. @param {AbortSignal} signal @returns {Promise<string[]>} */
async function fetchPlanNames(signal) {
  const plans = await request('GET', 'plans', { signal }).catch(() => ({ body: [] }));
  return [...plans.body.map((/** @type {{ plan: string }} */ { plan }) => plan), 'enterprise'];
}

/** Adds the missing options. @param {HTMLSelectElement} select @param {readonly string[]} plans */
function addPlanOptions(select, plans) {
  const offered = new Set([...select.options].map(({ value }) => value));
  select.append(...plans.filter((plan) => !offered.has(plan)).map((value) => el('option', { value }, value)));
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

/** Badges for unusual states of a client. @param {any} client with its usage */
export function badgesOf({ suspendedAt, bans, outcomes, keyExpiresAt }) {
  let refused = 0;
  for (const { outcome, lastHour } of outcomes) if (outcome.startsWith('429')) refused += lastHour;
  const banned = bans.length === 1 ? '1 key banned' : `${bans.length} keys banned`;
  return [
    refused > 0 && el('span.badge.warn', `${number(refused)} refused in 60 min`),
    suspendedAt !== null && el('span.badge.bad', 'Suspended'),
    bans.length > 0 && el('span.badge.bad', banned),
    keyExpiresAt !== null && el('span.badge.warn', 'A key expires ', when(keyExpiresAt)),
  ];
}
