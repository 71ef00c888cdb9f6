// @ts-check
// One webhook endpoint: its state, what can be done with it, and what it was sent.
import { ask, isHolder } from './admin-api.js';
import { redeliver, remove, rotateSecret, sendTest, turn } from './changes-of-endpoint.js';
import { fact } from './client-keys.js';
import { alone, faultOf } from './dialogs.js';
import { Rows, el, number, put, say, written } from './elements.js';
import { conditionOf, eventList } from './endpoints-view.js';
import { choice, field } from './fields.js';
import { Pages } from './paging.js';
import { poll } from './polling.js';
import { when } from './times.js';

/** States of deliveries, with the badge of each. @type {Readonly<Record<string, readonly [name: string, tone: string]>>} */
const STATES = {
  waiting: ['Waiting', 'warn'],
  delivered: ['Delivered', 'good'],
  failed: ['Failed', 'bad'],
};

/** @param {Element} main @param {AbortSignal} signal @param {string} id */
export function showEndpoint(main, signal, id) {
  /** @type {import('./changes-of-endpoint.js').Endpoint} */
  let endpoint;
  const soon = () => poller.soon();
  const title = el('h1', { class: 'address' }, '…');
  const badges = el('span', { class: 'badges' });
  const facts = el('dl', { class: 'facts' });
  const fault = el('div', { class: 'fault', role: 'alert' });
  const order = (/** @type {string} */ text, /** @type {() => Promise<unknown>} */ run, tone = 'quiet') => {
    const change = alone(async () => {
      if (await run()) soon();
    });
    return el(
      'button',
      { type: 'button', class: `${tone} changes`, disabled: true, onclick: () => void change() },
      text,
    );
  };
  const turnButton = order('Disable', () => turn(endpoint));
  const testButton = order('Send a test', () => sendTest(endpoint), 'primary');
  const buttons = [
    testButton,
    turnButton,
    order('Rotate the secret', () => rotateSecret(endpoint)),
    order(
      'Delete',
      async () => {
        if (await remove(endpoint)) location.hash = isHolder ? '' : `#/clients/${endpoint.clientId}`;
      },
      'quiet danger-text',
    ),
  ];
  const state = choice('state', [
    ['', 'All'],
    ...Object.entries(STATES).map(([value, [name]]) => /** @type {const} */ ([value, name])),
  ]);
  state.addEventListener('change', () => {
    pages.reset();
    soon();
  });
  /** @type {Pages<string>} */
  const pages = new Pages(soon);
  const rows = new Rows(
    el('ol', { class: 'keys', 'aria-label': 'Deliveries, latest first' }),
    el('li', { class: 'empty' }, 'Nothing yet.'),
  );
  const body = el(
    'div',
    { class: 'columns' },
    el('section', { class: 'card wide', 'aria-label': 'Endpoint' }, facts),
    el(
      'section',
      { class: 'card wide', 'aria-labelledby': 'deliveries-title' },
      el(
        'div',
        { class: 'card-head' },
        el('h2', { id: 'deliveries-title' }, 'Deliveries'),
        field('State', state),
      ),
      rows.list,
      pages.bar,
    ),
  );

  const poller = poll(
    async () => {
      ({ body: endpoint } = await ask('GET', `webhooks/${id}`, { signal }));
      say(title, endpoint.url);
      put(badges, conditionOf(endpoint));
      put(facts, factsOf(endpoint));
      for (const button of buttons) button.disabled = false;
      testButton.disabled = !endpoint.enabled;
      say(turnButton, endpoint.enabled ? 'Disable' : 'Enable');
      const { place: cursor, turn: asked } = pages.wanted;
      const query = { state: state.value || undefined, cursor };
      const answer = await ask('GET', `webhooks/${id}/deliveries`, { query, signal });
      if (pages.arrived(asked, answer.next)) rows.show(answer.body, (one) => rowOf(one, soon));
    },
    signal,
    (refusal) => {
      if (!refusal.is('webhook_endpoint_not_found')) return false;
      put(title, 'Not found');
      put(badges);
      put(fault, faultOf(refusal));
      put(body);
      for (const button of buttons) button.disabled = true;
      return true;
    },
  );

  put(
    main,
    el(
      'nav',
      { class: 'crumbs', 'aria-label': 'Where you are' },
      isHolder
        ? el('a', { href: '#/' }, '← Your account')
        : el('a', { href: '#/webhooks' }, '← All webhooks'),
    ),
    el(
      'div',
      { class: 'view-head' },
      el('div', { class: 'title' }, title, badges),
      el('div', { class: 'head-actions' }, buttons),
    ),
    fault,
    body,
  );
}

/** @param {any} endpoint */
function factsOf({
  id,
  clientId,
  label,
  events,
  waiting,
  createdAt,
  disabledAt,
  failingSince,
  previousSecretUntil,
}) {
  return [
    label !== null && fact('Label', written(label)),
    fact('Events', eventList(events)),
    fact('Waiting', `${number(waiting)} messages`),
    failingSince !== null && fact('Failing since', when(failingSince)),
    disabledAt !== null && fact('Disabled', when(disabledAt)),
    previousSecretUntil !== null && fact('Old secret signs until', when(previousSecretUntil)),
    fact('Made', when(createdAt)),
    !isHolder &&
      fact('Client', el('a', { href: `#/clients/${clientId}` }, el('code', { class: 'id' }, clientId))),
    fact('Id', el('code', { class: 'id' }, id)),
  ];
}

/** One delivery. @param {any} delivery @param {() => void} changed */
function rowOf({ id, endpointId, event, state, attempts, status, error, happenedAt, attemptedAt }, changed) {
  const [name, tone] = STATES[state] ?? [state, 'over'];
  const again = alone(async () => {
    if (await redeliver(endpointId, id)) changed();
  });
  const payload = el('div', { class: 'payload', role: 'status' });
  const show = alone(async () => {
    if (payload.childElementCount > 0) return;
    const { body } = await ask('GET', `webhooks/${endpointId}/deliveries/${id}`);
    put(payload, el('pre', { tabindex: '0', 'aria-label': 'Body of the message' }, body.payload));
  });
  return el(
    'li',
    { class: 'key' },
    el(
      'div',
      { class: 'key-head' },
      el('code', { class: 'prefix' }, event),
      el('span', { class: `badge ${tone}` }, name),
      el('span', {}, attemptsOf(attempts, status, error)),
    ),
    el(
      'div',
      { class: 'row-actions' },
      el(
        'button',
        {
          type: 'button',
          class: 'quiet changes',
          'data-action': `again ${id}`,
          'aria-label': `Send again: ${event} ${id}`,
          onclick: () => void again(),
        },
        'Send again',
      ),
    ),
    el(
      'dl',
      { class: 'facts' },
      fact('Last sent', attemptedAt === null ? 'never' : when(attemptedAt)),
      fact('Happened', when(happenedAt)),
      fact('Delivery', String(id)),
    ),
    el(
      'details',
      { ontoggle: (/** @type {any} */ { target }) => target.open && void show() },
      el('summary', {}, 'Message', el('span', { class: 'visually-hidden' }, ` of delivery ${id}`)),
      payload,
    ),
  );
}

/** @param {number} attempts @param {number | null} status @param {string | null} error */
function attemptsOf(attempts, status, error) {
  if (attempts === 0) return 'Not sent yet';
  const times = attempts === 1 ? '1 attempt' : `${number(attempts)} attempts`;
  return `${times}. ${error ?? (status === null ? '' : `It responded ${status}.`)}`;
}
