// @ts-check
// One client: its plan, usage, keys and webhooks. A key holder sees its own.
import { isHolder, me, request } from './admin-api.js';
import { addressOf } from './address.js';
import { changePlan, exportClient, removeClient, renameClient, suspendOrResume } from './changes.js';
import { ClientKeys } from './client-keys.js';
import { ClientUsage } from './client-usage.js';
import { badgesOf } from './clients-view.js';
import { button, changeButtons } from './controls.js';
import { el, idOf, number, replaceContent, setText } from './elements.js';
import { Endpoints } from './endpoints-view.js';
import { poll } from './polling.js';
import { card, facts, showView } from './sections.js';
import { when } from './times.js';

/** @param {Element} main @param {AbortSignal} signal @param {string} id empty for a key holder */
export function showClient(main, signal, id) {
  /** @type {any} */
  let client;
  /** @type {string | null} */
  let tag = null;
  const soon = () => poller.soon();
  const changeButton = changeButtons(soon);
  const planButton = changeButton('Change plan', () => changePlan(client, tag));
  const suspendButton = changeButton('Suspend', () => suspendOrResume(client));
  const plan = el('div');
  const usage = new ClientUsage(soon);
  const keys = new ClientKeys(id, soon);
  const endpoints = new Endpoints(id, soon);
  // Without the scope account, a key holder sees only plan and usage.
  const note = [
    'To manage keys and webhooks, sign in with a key that has the scope ',
    el('code', 'account'),
    '.',
  ];
  const missingScopeNote = el('p.note', { hidden: true }, note);
  let planShown = '';

  const poller = poll(
    async () => {
      const path = isHolder ? 'usage' : `clients/${id}`;
      ({ body: client, tag } = await request('GET', path, { query: { days: usage.days }, signal }));
      view.show(client.name, badgesOf(client));
      document.title = `${client.name} · ${isHolder ? 'Account' : 'Console'}`;
      exportButton.disabled = removeButton.disabled = false;
      setText(suspendButton, client.suspendedAt === null ? 'Suspend' : 'Resume');
      showPlan();
      usage.show(client);
      const mayChange = !isHolder || (await me())?.key.scopes.includes('account');
      keys.element.hidden = endpoints.element.hidden = !mayChange;
      missingScopeNote.hidden = mayChange;
      if (!mayChange) return;
      await keys.refresh(client, signal);
      await endpoints.refresh(signal);
    },
    signal,
    (refusal) => view.isGone(refusal, 'client_not_found', isHolder ? null : whatHappened),
  );

  function showPlan() {
    const { plan: name, perMinute, perDay, createdAt, suspendedAt, lastUsedAt } = client;
    const shown = [name, perMinute, perDay, suspendedAt, lastUsedAt].join();
    if (shown === planShown) return;
    planShown = shown;
    replaceContent(
      plan,
      facts([
        ['Plan', el('span.badge.plan', name)],
        ['Per minute', number(perMinute)],
        ['Per UTC day', number(perDay)],
        ['Last used', when(lastUsedAt)],
        ['Created', when(createdAt)],
        suspendedAt !== null && ['Suspended', when(suspendedAt)],
        ['Id', idOf(client.id)],
      ]),
    );
  }

  const whatHappened = el(
    'p.wide',
    'If it was deleted, the ',
    el('a', { href: `#/audit/${id}` }, 'audit trail'),
    ' shows who deleted it and when, and can erase its names.',
  );
  const leave = async () => {
    if (await removeClient(client)) location.hash = '#/clients';
  };
  const removeButton = changeButton('Delete this client', leave, '.quiet.danger-text');
  const exportButton = button('Export', () => exportClient(client), '.quiet', { disabled: true });
  const stored = card(
    'Stored data',
    null,
    el(
      'p.note',
      'Export everything that is stored about the client as a file, or delete it with its keys, webhooks and last errors.',
    ),
    el('div.row-actions', exportButton, removeButton),
  );
  const renameButton = changeButton('Rename', () => renameClient(client));

  const links = [
    el(
      'a.button.quiet',
      { href: isHolder ? '#/requests' : addressOf('#/requests', { client: id }) },
      'Last errors',
    ),
    el('a.button.quiet', { href: `#/audit/${id}` }, 'Audit trail'),
  ];
  const view = showView(
    main,
    isHolder
      ? {}
      : { back: ['#/clients', '← All clients'], links, buttons: [renameButton, planButton, suspendButton] },
    card('Plan and usage', null, plan, usage.now),
    usage.byMinute.element,
    missingScopeNote,
    keys.element,
    endpoints.element,
    usage.byDay.element,
    usage.operations,
    usage.deprecated,
    !isHolder && stored,
  );
}
