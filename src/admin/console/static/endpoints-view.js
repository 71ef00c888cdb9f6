// @ts-check
// The webhook endpoints of one or all clients, with their states.
import { isHolder } from './admin-api.js';
import { createEndpoint } from './changes.js';
import { Filters } from './address.js';
import { button, choice, field } from './controls.js';
import { el, written } from './elements.js';
import { PagedList } from './lists.js';
import { poll } from './polling.js';
import { card, codes, facts, showView } from './sections.js';
import { when, whenDue } from './times.js';

/** @typedef {import('./changes.js').Endpoint} Endpoint */

/** Why an endpoint is disabled, in words. @type {Readonly<Record<string, string>>} */
const BECAUSE = {
  owner: 'Disabled by its owner',
  operator: 'Disabled by an operator',
  failing: 'Disabled: it failed for three days',
  gone: 'Disabled: it responded with 410',
};

/** Whether messages are sent to an endpoint, as a badge. @param {Endpoint} endpoint */
export function conditionOf({ enabled, disabledBecause, failingSince }) {
  if (!enabled) return el('span.badge.bad', BECAUSE[disabledBecause ?? ''] ?? 'Disabled');
  return failingSince === null ? el('span.badge.good', 'Enabled') : el('span.badge.warn', 'Failing');
}

/** A card with endpoints. */
export class Endpoints {
  /**
   * @param {string | undefined} clientId the client whose endpoints are shown; undefined for all
   * @param {() => void} changed
   * @param {() => Record<string, string | undefined>} [filters]
   */
  constructor(clientId, changed, filters = () => ({})) {
    const client = isHolder ? undefined : clientId;
    const create = async () => (await createEndpoint(client)) && changed();
    const row = (/** @type {Endpoint} */ endpoint) => rowOf(endpoint, clientId === undefined);
    this.list = new PagedList('webhooks', row, {
      list: el('ul.keys'),
      none: 'No endpoint yet: nobody is notified of events.',
      changed,
      page: clientId === undefined ? 'page' : 'webhooks',
      query: () => ({ client, ...filters() }),
    });
    this.element =
      clientId === undefined
        ? el('section.card', { 'aria-label': 'Endpoints' }, ...this.list.parts)
        : card('Webhooks', button('New endpoint', create, '.quiet.changes'), ...this.list.parts);
  }

  /** @param {AbortSignal} signal @param {string} [none] */
  refresh(signal, none) {
    return this.list.refresh(signal, none);
  }
}

/** @param {Endpoint} endpoint @param {boolean} isOfAll */
function rowOf(endpoint, isOfAll) {
  const { id, clientId, clientName, url, label, events, createdAt } = endpoint;
  const { enabled, lastError, nextAttemptAt } = endpoint;
  return el(
    enabled ? 'li.key' : 'li.key.ended',
    el(
      'div.key-head',
      el('a.address', { href: `#/webhooks/${id}` }, url),
      label !== null && el('bdi.label', label),
      conditionOf(endpoint),
    ),
    facts([
      ['Events', codes(events)],
      lastError !== null && ['Last error', written(lastError)],
      nextAttemptAt !== null && ['Next attempt', whenDue(nextAttemptAt)],
      ['Created', when(createdAt)],
      isOfAll && ['Client', el('a', { href: `#/clients/${clientId}` }, written(clientName))],
    ]),
  );
}

/** All endpoints. @param {Element} main @param {AbortSignal} signal */
export function showEndpoints(main, signal) {
  const state = choice('state', [
    ['', 'Any'],
    ['failing', 'Failing'],
    ['disabled', 'Disabled'],
  ]);
  const filters = new Filters({ state }, () => endpoints.list.restart());
  const endpoints = new Endpoints(
    undefined,
    () => poller.soon(),
    () => filters.query,
  );
  showView(
    main,
    { title: 'Webhooks' },
    el('div.filters', { role: 'search', 'aria-label': 'Webhooks' }, field('State', state)),
    endpoints.list.count,
    endpoints.element,
    el('p.note', 'To create an endpoint, open its client. The URL of this page includes the filter.'),
  );
  const poller = poll(
    () => endpoints.refresh(signal, filters.isAny ? `No endpoint is ${state.value}.` : undefined),
    signal,
  );
}
