// @ts-check
// One client: its plan, what it uses, its keys and webhooks; for a key holder its own.
import { ask, isHolder, me } from './admin-api.js';
import { changePlan, resume, suspend } from './changes-of-client.js';
import { ClientKeys, fact } from './client-keys.js';
import { ClientUsage } from './client-usage.js';
import { badgesOf } from './clients-view.js';
import { alone, faultOf } from './dialogs.js';
import { el, number, put, say } from './elements.js';
import { Endpoints } from './endpoints-view.js';
import { poll } from './polling.js';
import { when } from './times.js';

/** @param {Element} main @param {AbortSignal} signal @param {string} id empty for the own client */
export function showClient(main, signal, id) {
  /** @type {any} */
  let client;
  /** @type {string | null} */
  let tag = null;
  const soon = () => poller.soon();
  const title = el('h1', { dir: 'auto' }, '…');
  const badges = el('span', { class: 'badges' });
  const plan = el('dl', { class: 'facts' });
  const usage = new ClientUsage(soon);
  const keys = new ClientKeys(id, soon);
  const endpoints = new Endpoints(id, soon);
  // Without the scope account a holder sees the plan and what is used of it.
  const lacks = el(
    'p',
    { class: 'note', hidden: true },
    'Keys and webhooks need a key with the scope ',
    el('code', {}, 'account'),
    '.',
  );
  const fault = el('div', { class: 'fault', role: 'alert' });
  const buttonOf = (/** @type {string} */ text, /** @type {() => Promise<unknown>} */ run) => {
    const change = alone(async () => {
      if (await run()) soon();
    });
    return el(
      'button',
      { type: 'button', class: 'quiet changes', disabled: true, onclick: () => void change() },
      text,
    );
  };
  const planButton = buttonOf('Change plan', () => changePlan(client, tag));
  const suspendButton = buttonOf('Suspend', () =>
    client.suspendedAt === null ? suspend(client) : resume(client),
  );
  let planShown = '';

  const poller = poll(
    async () => {
      const path = isHolder ? 'usage' : `clients/${id}`;
      ({ body: client, tag } = await ask('GET', path, { query: { days: usage.days }, signal }));
      say(title, client.name);
      document.title = `${client.name} · ${isHolder ? 'Account' : 'Console'}`;
      const suspended = client.suspendedAt !== null;
      put(badges, badgesOf(client));
      planButton.disabled = false;
      suspendButton.disabled = false;
      say(suspendButton, suspended ? 'Resume' : 'Suspend');
      showPlan();
      usage.show(client);
      const mayOrder = !isHolder || (await me())?.key.scopes.includes('account');
      keys.element.hidden = endpoints.element.hidden = !mayOrder;
      lacks.hidden = mayOrder;
      if (!mayOrder) return;
      await keys.refresh(client, signal);
      await endpoints.refresh(signal);
    },
    signal,
    (refusal) => {
      if (!refusal.is('client_not_found')) return false;
      put(title, 'Not found');
      document.title = 'Not found · Console';
      put(badges);
      put(fault, faultOf(refusal));
      put(body);
      planButton.disabled = suspendButton.disabled = true;
      return true;
    },
  );

  function showPlan() {
    const { plan: name, perMinute, perDay, createdAt, suspendedAt, lastUsedAt } = client;
    const shown = [name, perMinute, perDay, suspendedAt, lastUsedAt].join();
    if (shown === planShown) return;
    planShown = shown;
    put(
      plan,
      fact('Plan', el('span', { class: 'badge plan' }, name)),
      fact('Per minute', number(perMinute)),
      fact('Per UTC day', number(perDay)),
      fact('Last used', lastUsedAt === null ? 'never' : when(lastUsedAt)),
      fact('Made', when(createdAt)),
      suspendedAt !== null && fact('Suspended', when(suspendedAt)),
      fact('Id', el('code', { class: 'id' }, client.id)),
    );
  }

  const body = el(
    'div',
    { class: 'columns' },
    el(
      'section',
      { class: 'card', 'aria-labelledby': 'plan-title' },
      el('h2', { id: 'plan-title' }, 'Plan and use'),
      plan,
      usage.now,
    ),
    usage.byMinute.element,
    lacks,
    keys.element,
    endpoints.element,
    usage.byDay.element,
    usage.operations,
    usage.deprecated,
  );
  put(
    main,
    !isHolder &&
      el(
        'nav',
        { class: 'crumbs', 'aria-label': 'Where you are' },
        el('a', { href: '#/clients' }, '← All clients'),
      ),
    el(
      'div',
      { class: 'view-head' },
      el('div', { class: 'title' }, title, badges),
      !isHolder &&
        el(
          'div',
          { class: 'head-actions' },
          el('a', { href: `#/requests/${id}`, class: 'button quiet' }, 'Last errors'),
          el('a', { href: `#/audit/${id}`, class: 'button quiet' }, 'Audit trail'),
          planButton,
          suspendButton,
        ),
    ),
    fault,
    body,
  );
}
