// @ts-check
// Changes to clients, keys and webhook endpoints, each with a confirmation. All functions return undefined if canceled.
import { Refusal, isHolder, me, request } from './admin-api.js';
import { GRACES, boxes, choice, chosenIn, download, field, textField, valueOf } from './controls.js';
import { confirm } from './dialogs.js';
import { el, notify, number, written } from './elements.js';
import { keepKey, keyOfTab } from './session.js';
import { exactly, now } from './times.js';

/** @typedef {{ id: string, name: string, plan: string, perMinute: number, perDay: number, suspendedAt: string | null }} Client */
/** @typedef {{ id: string, prefix: string, label: string | null, scopes: string[], createdAt: string, expiresAt: string | null, revokedAt: string | null, lastUsedAt: string | null, replacedBy: string | null }} Key */
/** @typedef {{ id: string, clientId: string, clientName: string, url: string, label: string | null, events: string[], enabled: boolean, disabledBecause: string | null, failingSince: string | null, nextAttemptAt: string | null, lastError: string | null, createdAt: string }} Endpoint */

const HOUR_MS = 3_600_000;

/** @type {readonly (readonly [value: string, text: string, hours: number])[]} */
const LIFETIMES = [
  ['8h', '8 hours', 8],
  ['7d', '7 days', 7 * 24],
  ['30d', '30 days', 30 * 24],
  ['90d', '90 days', 90 * 24],
  ['365d', '365 days', 365 * 24],
];

/** Fields for a plan and, for enterprise, its limits. @param {Partial<Client>} client */
async function planFields({ plan = 'free', perMinute, perDay }) {
  const { body: fixed } = await request('GET', 'plans');
  /** @type {[string, string][]} */
  const options = fixed.map((/** @type {Client} */ one) => [
    one.plan,
    `${one.plan}: ${number(one.perMinute)} a minute, ${number(one.perDay)} a UTC day`,
  ]);
  options.push(['enterprise', 'enterprise: custom limits']);
  // A removed plan stays selected, so that the service refuses it. Otherwise, the first plan would be selected.
  if (options.every(([name]) => name !== plan)) options.unshift([plan, plan]);
  const limit = (/** @type {string} */ name, /** @type {number | undefined} */ value) => {
    const range = { type: 'number', min: 1, max: 1_000_000_000, inputmode: 'numeric' };
    return el('input', { name, ...range, value: plan === 'enterprise' ? value : '' });
  };
  const [minute, day] = [limit('perMinute', perMinute), limit('perDay', perDay)];
  const limits = el('div.pair', field('Requests per minute', minute), field('Requests per UTC day', day));
  const plans = choice('plan', options, plan);
  const showLimits = () => {
    // An invalid number in a hidden field would prevent the browser from sending the form.
    limits.hidden = minute.disabled = day.disabled = plans.value !== 'enterprise';
  };
  plans.addEventListener('change', showLimits);
  showLimits();
  return [field('Plan', plans), limits];
}

/** @param {HTMLFormElement} form */
function planOf(form) {
  const plan = valueOf(form, 'plan');
  if (plan !== 'enterprise') return { plan };
  const [perMinute, perDay] = ['perMinute', 'perDay'].map((name) => valueOf(form, name));
  return { plan, perMinute: perMinute && Number(perMinute), perDay: perDay && Number(perDay) };
}

export async function createClient() {
  return confirm({
    title: 'New client',
    body: [textField('Name', 'name', { required: true }), ...(await planFields({}))],
    action: 'Create the client',
    unsure: 'The client may have been created: look for its name before you create it again.',
    operation: ['POST', 'clients'],
    json: (form) => ({ name: valueOf(form, 'name') ?? '', ...planOf(form) }),
    done: 'The client was created. It has no key yet.',
  });
}

/** @param {Client} client @param {string | null} tag entity tag of the displayed client */
export async function changePlan(client, tag) {
  let seen = tag;
  const text = [
    'The new limits apply to ',
    written(client.name),
    ' within a second. Its usage so far still counts.',
  ];
  return confirm({
    title: 'Change the plan',
    body: [el('p', text), ...(await planFields(client))],
    action: 'Change the plan',
    operation: ['PATCH', `clients/${client.id}`],
    json: planOf,
    run: async (send) => {
      try {
        return await send(seen);
      } catch (error) {
        if (!(error instanceof Refusal) || !error.is('precondition_failed')) throw error;
        // Another operator has changed the plan since this dialog was opened, so this operator has to confirm again.
        const { body, tag: latest } = await request('GET', `clients/${client.id}`, { query: { days: 1 } });
        seen = latest;
        const limits = `${body.perMinute} per minute and ${body.perDay} per day`;
        const message = `Someone else has changed the plan. It is now ${body.plan}, with ${limits}. Confirm again to change it anyway.`;
        throw new Refusal(412, error.code, message);
      }
    },
    done: 'The plan was changed.',
  });
}

/** @param {Client} client */
export function renameClient({ id, name }) {
  return confirm({
    title: 'Rename this client?',
    body: [textField('Name', 'name', { required: true, value: name })],
    action: 'Rename',
    operation: ['PATCH', `clients/${id}`],
    json: (form) => ({ name: valueOf(form, 'name') ?? '' }),
    done: 'The client was renamed.',
  });
}

/** Saves the stored data about a client as a file. @param {Client} client */
export async function exportClient({ id }) {
  const { body } = await request('GET', `clients/${id}/export`, { isFile: true });
  download(body, 'application/json', `client-${id}.json`);
}

/** Deletes a client and, on request, erases its names from the audit trail. @param {Client} client */
export function removeClient({ id, name }) {
  return confirm({
    title: 'Delete this client?',
    body: [
      el(
        'p',
        written(name),
        ' is deleted with its keys, webhooks and last errors. Programs that use its keys stop working immediately.',
      ),
      el(
        'label.check',
        el('input', { type: 'checkbox', name: 'erase' }),
        el(
          'span',
          'Also erase its names and addresses from the audit trail',
          el('small', ' The changes and their times remain. Use this for a request to erase personal data.'),
        ),
      ),
    ],
    action: 'Delete permanently',
    danger: true,
    operation: ['DELETE', `clients/${id}`],
    query: (form) => ({ erase: chosenIn(form, 'erase').length > 0 }),
    done: 'The client was deleted.',
  });
}

/** Erases the names of a deleted client. @param {string} id */
export function eraseClient(id) {
  return confirm({
    title: 'Erase the names of this client?',
    body: [
      el(
        'p',
        'Its names, labels and addresses are erased from the audit trail. The changes and their times remain.',
      ),
    ],
    action: 'Erase permanently',
    danger: true,
    operation: ['POST', `clients/${id}/erase`],
    done: 'The names were erased.',
  });
}

/** Suspends or resumes a client. @param {Client} client */
export function suspendOrResume({ id, name, suspendedAt }) {
  const works = suspendedAt === null;
  const verb = works ? 'Suspend' : 'Resume';
  const refused = [
    ' is refused from now on, with 403 ',
    el('code', 'client_suspended'),
    ', until you resume it.',
  ];
  return confirm({
    title: `${verb} this client?`,
    body: works
      ? [el('p', 'Every key of ', written(name), refused, ' Nothing is deleted.')]
      : [
          el(
            'p',
            'The keys of ',
            written(name),
            ' work again immediately, except those that have expired or were revoked in the meantime.',
          ),
        ],
    action: verb,
    danger: works,
    operation: ['POST', `clients/${id}/${verb.toLowerCase()}`],
    done: `The client was ${works ? 'suspended' : 'resumed'}.`,
  });
}

const KEY_UNSURE =
  'The key may have been created: check the list of keys, and revoke the new one there if you do not have its secret.';

/** The existing scopes; for a key holder, those of its key that it can grant. @param {Key | undefined} own */
async function scopesToOffer(own) {
  if (!isHolder) return (await request('GET', 'scopes')).body;
  const names = (own?.scopes ?? []).filter((name) => !administers(name));
  return names.map((name) => ({ name, description: '', grantedByDefault: name !== 'account' }));
}

/** Whether only operators can grant a scope. @param {string} scope */
export function administers(scope) {
  return /^admin(?::|$)/.test(scope);
}

/** The lifetimes that end before an instant, and the lifetime until that instant. @param {string | null | undefined} latest @returns {[string, string][]} */
function lifetimesUntil(latest) {
  const longest = latest ? Date.parse(latest) - now() : Number.POSITIVE_INFINITY;
  const shorter = LIFETIMES.filter(([, , hours]) => hours * HOUR_MS < longest);
  const whole = latest ? `Until your key expires, ${exactly(latest)}` : 'No expiry';
  return [['', whole], ...shorter.map(([value, text]) => /** @type {[string, string]} */ ([value, text]))];
}

/** The name of a key, for a sentence. @param {Key} key */
function called({ prefix, label }) {
  return el('span', el('code', `${prefix}…`), label !== null && [' ', written(label)]);
}

/** @param {{ id: string, name: string }} client */
export async function issue(client) {
  /** @type {Key | undefined} */
  const own = (await me())?.key;
  // A scope that starts with `admin:` is part of `admin`.
  const isHeld = (/** @type {string} */ scope) =>
    own === undefined ||
    own.scopes.some((held) => held === scope || held === scope.replace(/^admin:.*/, 'admin'));
  const offered = (await scopesToOffer(own)).map(
    (/** @type {any} */ { name, description, grantedByDefault }) => ({
      value: name,
      text: description,
      checked: grantedByDefault && isHeld(name),
      disabled: !isHeld(name),
    }),
  );
  const ordinary = offered.filter((/** @type {any} */ { value }) => !administers(value));
  const administrative = offered.filter((/** @type {any} */ { value }) => administers(value));
  const missingScopeNote =
    offered.some((/** @type {any} */ { disabled }) => disabled) &&
    el('p.note', 'The key that you signed in with can grant only scopes that it has.');
  return confirm({
    title: 'Issue a key',
    body: [
      el('p', 'A new key for ', written(client.name), '. It is shown once.'),
      textField('Label', 'label', {}, 'Optional. A name that people recognize, such as Web shop.'),
      boxes('Scopes', 'scopes', ordinary, missingScopeNote),
      administrative.length > 0 &&
        boxes(
          'Administration',
          'scopes',
          administrative,
          el(
            'p.warning',
            'Not for clients: anyone with such a key can read all clients and their keys, and with ',
            el('code', 'admin'),
            ' changes them and issues further keys.',
          ),
        ),
      field('Lifetime', choice('expires', lifetimesUntil(own?.expiresAt), '90d')),
    ],
    action: 'Issue the key',
    unsure: KEY_UNSURE,
    operation: ['POST', 'keys'],
    json: (form) => ({
      clientId: isHolder ? undefined : client.id,
      scopes: chosenIn(form, 'scopes'),
      label: valueOf(form, 'label'),
      expires: valueOf(form, 'expires'),
    }),
    secret: {
      member: 'key',
      title: 'The new key',
      note: isHolder
        ? 'Store it where it is used.'
        : 'Send it to the client through a channel that nobody else can read.',
    },
  });
}

/** @param {Key} key */
export async function rotate(key) {
  /** @type {Key | undefined} */
  const own = (await me())?.key;
  // If the service does not report which key the tab has, compare its prefix.
  const isOfTab = own ? own.id === key.id : keyOfTab()?.startsWith(key.prefix) === true;
  const end = own?.expiresAt;
  return confirm({
    title: 'Rotate this key?',
    body: [
      el(
        'p',
        'A new key with the same scopes replaces ',
        called(key),
        '. The old key works until the end of the grace period, so that nothing is interrupted.',
        end && ` The new key expires no later than the key that you signed in with, ${exactly(end)}.`,
      ),
      field(
        'Grace period of the old key',
        choice('grace', GRACES),
        'It ends when the old key expires, at the latest. If the key has leaked, choose None.',
      ),
    ],
    action: 'Rotate',
    unsure: KEY_UNSURE,
    operation: ['POST', `keys/${key.id}/rotate`],
    json: (form) => ({ grace: valueOf(form, 'grace') }),
    run: async (send) => {
      const issued = await send();
      // Before the next request, because the old key may no longer work.
      if (isOfTab) keepKey(issued.key);
      return issued;
    },
    secret: {
      member: 'key',
      title: 'The replacement key',
      note: isOfTab
        ? 'You are signed in with the old key. This tab continues with the new key; use it the next time you sign in.'
        : 'Replace the old key with it before the grace period ends.',
    },
  });
}

/** @param {Key} key */
export function revoke(key) {
  const code = el('code', 'revoked_api_key');
  return confirm({
    title: 'Revoke this key?',
    body: [
      el(
        'p',
        called(key),
        ' stops working immediately and permanently. Requests that still use it are refused with 401 ',
        code,
        '.',
      ),
      el('p.note', 'To replace a key without a gap, rotate it.'),
    ],
    action: 'Revoke permanently',
    danger: true,
    operation: ['POST', `keys/${key.id}/revoke`],
    done: 'The key was revoked.',
  });
}

/** @param {Key} key @param {string} until */
export function unban(key, until) {
  const text = ` kept sending requests while it had to wait, and is refused until ${exactly(until)}. If you lift the ban, it works immediately, and its strikes are cleared.`;
  return confirm({
    title: 'Lift the ban?',
    body: [el('p', called(key), text)],
    action: 'Lift the ban',
    operation: ['POST', `keys/${key.id}/unban`],
    done: 'The ban was lifted.',
  });
}

const SECRET_NOTE = 'The receiver verifies each message with it (Standard Webhooks).';

/** @param {string | undefined} clientId undefined for the client of the key holder */
export async function createEndpoint(clientId) {
  const { body: offered } = await request('GET', 'webhook-events');
  // The rest of a description is for developers of receivers.
  const events = offered.map((/** @type {any} */ { name, description, scope }) => ({
    value: name,
    text: `${description.split(/[.;] /, 1)[0].replace(/\.$/, '')}.${scope === null ? '' : ` Needs ${scope}.`}`,
  }));
  const address = { type: 'url', required: true, maxlength: 2048 };
  return confirm({
    title: 'New webhook endpoint',
    body: [
      textField(
        'URL',
        'url',
        address,
        'Messages are sent to this URL by POST. Example: https://shop.example.com/webhooks',
      ),
      boxes('Events', 'events', events),
      textField('Label', 'label', {}, 'Optional.'),
    ],
    action: 'Create the endpoint',
    unsure:
      'The endpoint may have been created: check the list, and delete it if you do not have its secret.',
    operation: ['POST', 'webhooks'],
    json: (form) => ({
      clientId,
      url: valueOf(form, 'url') ?? '',
      events: chosenIn(form, 'events'),
      label: valueOf(form, 'label'),
    }),
    secret: { member: 'secret', title: 'The secret of the endpoint', note: SECRET_NOTE },
  });
}

/** @param {Endpoint} endpoint */
export function rotateSecret({ id }) {
  return confirm({
    title: 'Rotate the secret?',
    body: [
      el('p', 'Messages are signed with both secrets until the grace period is over.'),
      field('Grace period of the old secret', choice('grace', GRACES)),
    ],
    action: 'Rotate',
    unsure: 'The secret may have been rotated: rotate it again to get a new one.',
    operation: ['POST', `webhooks/${id}/rotate-secret`],
    json: (form) => ({ grace: valueOf(form, 'grace') }),
    secret: { member: 'secret', title: 'The new secret', note: SECRET_NOTE },
  });
}

/** Sends an endpoint a test message, or one of its deliveries again. @param {string} endpointId @param {string} [deliveryId] */
export async function sendMessage(endpointId, deliveryId) {
  const path = deliveryId === undefined ? 'test' : `deliveries/${deliveryId}/redeliver`;
  const { body } = await request('POST', `webhooks/${endpointId}/${path}`);
  notify(
    `${deliveryId === undefined ? 'A test message' : 'The message'} will be sent ${sendTimeText(body)}.`,
  );
  return true;
}

/** When a waiting delivery is sent, in words. @param {{ waitingBefore: number, nextAttemptAt: string | null }} delivery */
function sendTimeText({ waitingBefore, nextAttemptAt }) {
  if (waitingBefore === 0) return nextAttemptAt === null ? 'now' : `at ${exactly(nextAttemptAt)}`;
  const before = `after ${waitingBefore === 1 ? '1 waiting message' : `${number(waitingBefore)} waiting messages`}`;
  return nextAttemptAt === null
    ? before
    : `${before}, the first of which failed and will be attempted again at ${exactly(nextAttemptAt)}`;
}

/** Retries the first waiting message of an endpoint now. @param {string} endpointId @param {string} [deliveryId] */
export async function retry(endpointId, deliveryId) {
  const path = deliveryId === undefined ? 'retry' : `deliveries/${deliveryId}/retry`;
  const { body } = await request('POST', `webhooks/${endpointId}/${path}`);
  const before = body.waitingBefore ?? 0;
  notify(
    before === 0
      ? 'The first waiting message will be sent now.'
      : `The first waiting message will be sent now, and this one ${sendTimeText({ waitingBefore: before, nextAttemptAt: null })}.`,
  );
  return true;
}

/** Disables or enables an endpoint. @param {Endpoint} endpoint */
export function enableOrDisable({ id, enabled }) {
  return confirm({
    title: enabled ? 'Disable this endpoint?' : 'Enable this endpoint?',
    body: [
      el(
        'p',
        enabled
          ? 'No messages are sent to it until it is enabled again. Events in that time are never sent.'
          : 'Delivery resumes immediately with the messages that were waiting when the endpoint was disabled, except the one that kept failing.',
      ),
    ],
    action: enabled ? 'Disable' : 'Enable',
    danger: enabled,
    operation: ['PATCH', `webhooks/${id}`],
    json: () => ({ enabled: !enabled }),
    done: enabled ? 'The endpoint was disabled.' : 'The endpoint was enabled.',
  });
}

/** @param {Endpoint} endpoint */
export function remove({ id, url }) {
  return confirm({
    title: 'Delete this endpoint?',
    body: [el('p', el('code', url), ' and its log are deleted. Waiting messages are never sent.')],
    action: 'Delete permanently',
    danger: true,
    operation: ['DELETE', `webhooks/${id}`],
    done: 'The endpoint was deleted.',
  });
}
