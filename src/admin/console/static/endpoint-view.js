// @ts-check
// One webhook endpoint: its state, its actions and its deliveries.
import { isHolder, request } from './admin-api.js';
import { Filters } from './address.js';
import { remove, retry, rotateSecret, sendMessage, enableOrDisable } from './changes.js';
import { button, changeButtons, choice, field } from './controls.js';
import { el, idOf, notify, number, replaceContent, setText, written } from './elements.js';
import { conditionOf } from './endpoints-view.js';
import { PagedList } from './lists.js';
import { poll } from './polling.js';
import { card, codes, facts, showView } from './sections.js';
import { when, whenDue } from './times.js';

/** States of deliveries, with the badge of each. @type {Readonly<Record<string, readonly [name: string, tone: string]>>} */
const STATES = {
  waiting: ['Waiting', 'warn'],
  delivered: ['Delivered', 'good'],
  failed: ['Failed', 'bad'],
};

/** @param {Element} main @param {AbortSignal} signal @param {string} id */
export function showEndpoint(main, signal, id) {
  /** @type {import('./changes.js').Endpoint} */
  let endpoint;
  const soon = () => poller.soon();
  const changeButton = changeButtons(soon);
  const enableButton = changeButton('Disable', () => enableOrDisable(endpoint));
  const retryButton = changeButton('Retry now', () => retry(id), '.primary');
  const testButton = changeButton('Send a test', () => sendMessage(id));
  const leave = async () => {
    if (await remove(endpoint)) location.hash = isHolder ? '' : `#/clients/${endpoint.clientId}`;
  };
  const buttons = [
    retryButton,
    testButton,
    enableButton,
    changeButton('Rotate the secret', () => rotateSecret(endpoint)),
    changeButton('Delete', leave, '.quiet.danger-text'),
  ];
  const names = Object.entries(STATES).map(([value, [name]]) => /** @type {const} */ ([value, name]));
  const state = choice('state', [['', 'All'], ...names]);
  const filters = new Filters({ state }, () => deliveries.restart());
  const deliveries = new PagedList(`webhooks/${id}/deliveries`, (delivery) => rowOf(delivery, soon), {
    list: el('ol.keys', { 'aria-label': 'Deliveries, latest first' }),
    none: 'Nothing yet.',
    changed: soon,
    query: () => filters.query,
  });
  const about = el('section.card', { 'aria-label': 'Endpoint' });
  let aboutShown = '';

  const poller = poll(
    async () => {
      ({ body: endpoint } = await request('GET', `webhooks/${id}`, { signal }));
      view.show(endpoint.url, conditionOf(endpoint));
      if (aboutShown !== JSON.stringify(endpoint)) replaceContent(about, factsOf(endpoint));
      aboutShown = JSON.stringify(endpoint);
      testButton.disabled = !endpoint.enabled;
      const isRetried = endpoint.nextAttemptAt === null && document.activeElement === retryButton;
      retryButton.hidden = endpoint.nextAttemptAt === null;
      if (isRetried) testButton.focus();
      setText(enableButton, endpoint.enabled ? 'Disable' : 'Enable');
      await deliveries.refresh(signal, state.value === '' ? undefined : 'No delivery is in this state.');
    },
    signal,
    (refusal) => view.isGone(refusal, 'webhook_endpoint_not_found'),
  );
  const view = showView(
    main,
    { back: isHolder ? ['#/', '← Your account'] : ['#/webhooks', '← All webhooks'], buttons },
    el('div.wide', about),
    el('div.wide', card('Deliveries', field('State', state), ...deliveries.parts)),
  );
}

/** @param {any} endpoint */
function factsOf({
  id,
  clientId,
  clientName,
  label,
  events,
  waiting,
  createdAt,
  disabledAt,
  failingSince,
  nextAttemptAt,
  lastError,
  previousSecretUntil,
}) {
  return facts([
    label !== null && ['Label', written(label)],
    ['Events', codes(events)],
    ['Waiting', waiting === 1 ? '1 message' : `${number(waiting)} messages`],
    failingSince !== null && ['Failing since', when(failingSince)],
    lastError !== null && ['Last error', written(lastError)],
    nextAttemptAt !== null && ['Next attempt', whenDue(nextAttemptAt)],
    disabledAt !== null && ['Disabled', when(disabledAt)],
    previousSecretUntil !== null && ['Old secret signs until', when(previousSecretUntil)],
    ['Created', when(createdAt)],
    !isHolder && ['Client', el('a', { href: `#/clients/${clientId}` }, written(clientName))],
    ['Id', idOf(id)],
  ]);
}

/** One delivery. @param {any} delivery @param {() => void} changed */
function rowOf(delivery, changed) {
  const { id, endpointId, event, state, attempts, status, error, happenedAt, attemptedAt } = delivery;
  const { waitingBefore, nextAttemptAt } = delivery;
  const isWaiting = state === 'waiting';
  const [name, tone] = STATES[state] ?? [state, 'over'];
  const act = isWaiting ? retry : sendMessage;
  const again = async () => (await act(endpointId, id)) && changed();
  const payload = el('div.payload', { role: 'status' });
  const show = async () => {
    if (payload.childElementCount > 0) return;
    const { body } = await request('GET', `webhooks/${endpointId}/deliveries/${id}`);
    replaceContent(
      payload,
      el('pre', { tabindex: '0', 'aria-label': 'Body of the message' }, body.payload),
      el('ol', { 'aria-label': 'Attempts' }, ...body.attemptLog.map(attemptOf)),
    );
  };
  const action = isWaiting ? 'Retry now' : 'Send again';
  const attributes = { 'data-action': `again ${id}`, 'aria-label': `${action}: ${event} ${id}` };
  const ontoggle = (/** @type {any} */ { target }) =>
    target.open && void show().catch(({ message }) => notify(message));
  return el(
    'li.key',
    el(
      'div.key-head',
      el('code.prefix', event),
      el(`span.badge.${tone}`, name),
      el('span', attemptsOf(attempts, status, error)),
    ),
    // Messages are sent in order, so only the first waiting one can be sent now.
    (!isWaiting || waitingBefore === 0) &&
      el('div.row-actions', button(action, again, '.quiet.changes', attributes)),
    facts([
      ['Last sent', when(attemptedAt)],
      nextAttemptAt !== null && ['Next attempt', whenDue(nextAttemptAt)],
      waitingBefore > 0 && ['Messages ahead', number(waitingBefore)],
      ['Happened', when(happenedAt)],
      ['Delivery', String(id)],
    ]),
    el(
      'details',
      { ontoggle },
      el('summary', 'Message and attempts', el('span.visually-hidden', ` of delivery ${id}`)),
      payload,
    ),
  );
}

/** @param {number} attempts @param {number | null} status @param {string | null} error */
function attemptsOf(attempts, status, error) {
  if (attempts === 0) return 'Not sent yet';
  const times = attempts === 1 ? '1 attempt' : `${number(attempts)} attempts`;
  return `${times}. ${error ?? (status === null ? '' : `It responded with ${status}.`)}`;
}

/** One attempt of a delivery. @param {{ at: string, status: number | null, error: string | null, durationMs: number, response: string | null }} attempt */
function attemptOf({ at, status, error, durationMs, response }) {
  return el(
    'li',
    when(at),
    ` ${error ?? `It responded with ${status}.`} ${number(durationMs)} ms`,
    response ? el('pre', { tabindex: '0', 'aria-label': 'Response' }, response) : '',
  );
}
