// @ts-check
// What an operator does with a key, each asked before it is done.
import { ask, isHolder, me, strangeAnswer } from './admin-api.js';
import { confirm } from './dialogs.js';
import { GRACES, choice, field, valueOf } from './fields.js';
import { showSecret } from './secret-dialog.js';
import { el, written } from './elements.js';
import { keepKey, keyOfTab } from './session.js';
import { exactly, now } from './times.js';

/**
 * @typedef {object} Key
 * @property {string} id
 * @property {string} prefix
 * @property {string | null} label
 * @property {string[]} scopes
 * @property {string} createdAt
 * @property {string | null} expiresAt
 * @property {string | null} revokedAt
 * @property {string | null} lastUsedAt
 * @property {string | null} replacedBy
 */

const HOUR_MS = 3_600_000;

/** @type {readonly (readonly [value: string, text: string, hours: number])[]} */
const LIFETIMES = [
  ['8h', '8 hours', 8],
  ['7d', '7 days', 7 * 24],
  ['30d', '30 days', 30 * 24],
  ['90d', '90 days', 90 * 24],
  ['365d', '365 days', 365 * 24],
];

const UNSURE =
  'The key may have been made all the same: look at the list of keys, and revoke the new one there if you have not its secret.';

/** An order whose answer has a new key. @param {string} path @param {Parameters<typeof ask>[2]} options */
async function orderKey(path, options) {
  const { body } = await ask('POST', path, options);
  if (typeof body.key !== 'string') throw strangeAnswer(true);
  return body;
}

/**
 * The scopes that there are; of those of a holder the ones of its key that operators alone do not hand on.
 * @param {Key | undefined} own
 */
async function scopesToOffer(own) {
  if (!isHolder) return (await ask('GET', 'scopes')).body;
  const names = (own?.scopes ?? []).filter((name) => !/^admin(?::|$)/.test(name));
  return names.map((name) => ({ name, description: '', grantedByDefault: name !== 'account' }));
}

/** The lifetimes that end before an instant, and that one. @param {string | null | undefined} latest */
function lifetimesUntil(latest) {
  const longest = latest ? Date.parse(latest) - now() : Number.POSITIVE_INFINITY;
  const shorter = LIFETIMES.filter(([, , hours]) => hours * HOUR_MS < longest);
  /** @type {[string, string]} */
  const whole = ['', latest ? `Until your key ends, ${exactly(latest)}` : 'It has no end'];
  return [whole, ...shorter.map(([value, text]) => /** @type {[string, string]} */ ([value, text]))];
}

/** How a key is called in a sentence. @param {Key} key */
function called({ prefix, label }) {
  return el('span', {}, el('code', {}, `${prefix}…`), label !== null && [' ', written(label)]);
}

/** @param {{ id: string, name: string }} client @returns {Promise<boolean>} whether it was done */
export async function issue(client) {
  /** @type {Key | undefined} */
  const own = (await me())?.key;
  const scopes = await scopesToOffer(own);
  // What admin has in front of a colon is included in it.
  const isHeld = (/** @type {string} */ scope) =>
    own === undefined ||
    own.scopes.includes(scope) ||
    own.scopes.includes(scope.replace(/^admin:.*/, 'admin'));
  const issued = await confirm({
    title: 'Issue a key',
    body: [
      el('p', {}, 'A new key for ', written(client.name), '. It is shown once.'),
      field(
        'Label',
        el('input', { name: 'label', maxlength: 255, autocomplete: 'off' }),
        'What people call it, such as Web shop. It may be empty.',
      ),
      el(
        'fieldset',
        {},
        el('legend', {}, 'Scopes'),
        scopes.map((/** @type {any} */ scope) =>
          el(
            'label',
            { class: 'check' },
            el('input', {
              type: 'checkbox',
              name: 'scopes',
              value: scope.name,
              checked: scope.grantedByDefault && isHeld(scope.name),
              disabled: !isHeld(scope.name),
            }),
            el('span', {}, el('code', {}, scope.name), el('small', {}, ` ${scope.description}`)),
          ),
        ),
        scopes.every((/** @type {any} */ { name }) => isHeld(name)) ||
          el('p', { class: 'note' }, 'The key that you signed in with hands on only what it holds itself.'),
      ),
      field('Lifetime', choice('expires', lifetimesUntil(own?.expiresAt), '90d')),
    ],
    action: 'Issue the key',
    unsure: UNSURE,
    run: (form) =>
      orderKey('keys', {
        json: {
          clientId: isHolder ? undefined : client.id,
          scopes: new FormData(form).getAll('scopes'),
          label: valueOf(form, 'label'),
          expires: valueOf(form, 'expires'),
        },
      }),
  });
  if (!issued) return false;
  await showSecret(
    'The new key',
    issued.key,
    isHolder ? 'Store it where it is used.' : 'Give it to the client on a way that nobody reads along.',
  );
  return true;
}

/** @param {Key} key @returns {Promise<boolean>} whether it was done */
export async function rotate(key) {
  /** @type {Key | undefined} */
  const own = (await me())?.key;
  // Where it is not told which key the tab has, its beginning is compared.
  const isOfTab = own ? own.id === key.id : keyOfTab()?.startsWith(key.prefix) === true;
  const end = own?.expiresAt;
  const issued = await confirm({
    title: 'Rotate this key?',
    body: [
      el(
        'p',
        {},
        'A new key with the same scopes takes the place of ',
        called(key),
        '. The old one works until the grace period is over, so that nothing stops.',
        end && ` The new one ends at the latest with the key that you signed in with, ${exactly(end)}.`,
      ),
      field('Grace of the old key', choice('grace', GRACES), 'Never longer than its own end.'),
    ],
    action: 'Rotate',
    unsure: UNSURE,
    run: async (form, force) => {
      const made = await orderKey(`keys/${key.id}/rotate`, {
        query: { force: force || undefined },
        json: { grace: valueOf(form, 'grace') },
      });
      // Before anything else is asked: the old key may have ended.
      if (isOfTab) keepKey(made.key);
      return made;
    },
  });
  if (!issued) return false;
  await showSecret(
    'The key that follows',
    issued.key,
    isOfTab
      ? 'You are signed in with the old one. This tab continues with the new one; the next sign-in needs it.'
      : 'Replace the old one with it before the grace period ends.',
  );
  return true;
}

/** @param {Key} key @returns {Promise<unknown>} undefined when it was cancelled */
export function revoke(key) {
  return confirm({
    title: 'Revoke this key?',
    body: [
      el(
        'p',
        {},
        called(key),
        ' ends at once and for good. Requests that still use it are refused with 401 ',
        el('code', {}, 'revoked_api_key'),
        '.',
      ),
      el('p', { class: 'note' }, 'To replace a key without a gap, rotate it.'),
    ],
    action: 'Revoke for good',
    danger: true,
    run: async (_, force) =>
      (await ask('POST', `keys/${key.id}/revoke`, { query: { force: force || undefined } })).body,
    done: 'The key is revoked.',
  });
}

/** @param {Key} key @param {string} until @returns {Promise<unknown>} undefined when it was cancelled */
export function unban(key, until) {
  return confirm({
    title: 'Lift the ban?',
    body: [
      el(
        'p',
        {},
        called(key),
        ` kept sending requests during its waiting time, and is refused until ${exactly(until)}. Without the ban it works at once, and its strikes are cleared.`,
      ),
    ],
    action: 'Lift the ban',
    run: async () => (await ask('POST', `keys/${key.id}/unban`)).body,
    done: 'The ban is lifted.',
  });
}
