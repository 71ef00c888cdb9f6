// @ts-check
// Webhook endpoints, of one client or of all, with their states.
import { ask, isHolder } from './admin-api.js';
import { createEndpoint } from './changes-of-endpoint.js';
import { fact } from './client-keys.js';
import { alone } from './dialogs.js';
import { Rows, el, put } from './elements.js';
import { Pages } from './paging.js';
import { poll } from './polling.js';
import { when } from './times.js';

/** @typedef {import('./changes-of-endpoint.js').Endpoint} Endpoint */

/** Why an endpoint is disabled, in words. @type {Readonly<Record<string, string>>} */
const BECAUSE = {
  owner: 'Disabled by its owner',
  operator: 'Disabled by an operator',
  failing: 'Disabled: it failed for three days',
  gone: 'Disabled: it responded 410',
};

/** Whether an endpoint is sent messages, as a badge. @param {Endpoint} endpoint */
export function conditionOf({ enabled, disabledBecause, failingSince }) {
  if (!enabled) return el('span', { class: 'badge bad' }, BECAUSE[disabledBecause ?? ''] ?? 'Disabled');
  return failingSince === null
    ? el('span', { class: 'badge good' }, 'Enabled')
    : el('span', { class: 'badge warn' }, 'Failing');
}

export class Endpoints {
  /** @param {string | undefined} clientId only those of this client @param {() => void} changed is called when others are to be shown */
  constructor(clientId, changed) {
    this.clientId = clientId;
    /** @type {Pages<string>} */
    this.pages = new Pages(changed);
    this.rows = new Rows(
      el('ul', { class: 'keys' }),
      el('li', { class: 'empty' }, 'No endpoint yet: nobody is notified of events.'),
    );
    const make = alone(async () => {
      if (await createEndpoint(isHolder ? undefined : clientId)) changed();
    });
    this.element = el(
      'section',
      { class: 'card', 'aria-labelledby': 'webhooks-title' },
      el(
        'div',
        { class: 'card-head' },
        el('h2', { id: 'webhooks-title' }, 'Webhooks'),
        (clientId !== undefined || isHolder) &&
          el(
            'button',
            { type: 'button', class: 'primary changes', onclick: () => void make() },
            'New endpoint',
          ),
      ),
      this.rows.list,
      this.pages.bar,
    );
  }

  /** @param {AbortSignal} signal */
  async refresh(signal) {
    const { place: cursor, turn } = this.pages.wanted;
    const query = { client: isHolder ? undefined : this.clientId, cursor };
    const { body, next } = await ask('GET', 'webhooks', { query, signal });
    if (this.pages.arrived(turn, next))
      this.rows.show(body, (/** @type {Endpoint} */ endpoint) => this.#row(endpoint));
  }

  /** @param {Endpoint} endpoint */
  #row(endpoint) {
    const { id, clientId, url, label, events, createdAt } = endpoint;
    const isOfAll = this.clientId === undefined && !isHolder;
    return el(
      'li',
      { class: endpoint.enabled ? 'key' : 'key ended' },
      el(
        'div',
        { class: 'key-head' },
        el('a', { href: `#/webhooks/${id}`, class: 'address' }, url),
        label !== null && el('bdi', { class: 'label' }, label),
        conditionOf(endpoint),
      ),
      el(
        'dl',
        { class: 'facts' },
        fact('Events', eventList(events)),
        fact('Made', when(createdAt)),
        isOfAll &&
          fact('Client', el('a', { href: `#/clients/${clientId}` }, el('code', { class: 'id' }, clientId))),
      ),
    );
  }
}

/** @param {readonly string[]} events */
export function eventList(events) {
  return el(
    'span',
    { class: 'scopes' },
    events.map((name) => el('code', {}, name)),
  );
}

/** All endpoints. @param {Element} main @param {AbortSignal} signal */
export function showEndpoints(main, signal) {
  const endpoints = new Endpoints(undefined, () => poller.soon());
  put(
    main,
    el('div', { class: 'view-head' }, el('h1', {}, 'Webhooks')),
    endpoints.element,
    el('p', { class: 'note' }, 'An endpoint is made in the view of its client.'),
  );
  const poller = poll(
    () => endpoints.refresh(signal),
    signal,
    () => false,
  );
}
