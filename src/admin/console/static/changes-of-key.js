// @ts-check
// What an operator does with a key, each asked before it is done.
import { Refusal, ask, strangeAnswer } from './admin-api.js';
import { confirm } from './dialogs.js';
import { choice, field, valueOf } from './fields.js';
import { showSecret } from './secret-dialog.js';
import { el, tell, written } from './elements.js';
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

/** @type {readonly (readonly [string, string])[]} */
const GRACES = [
  ['24h', '24 hours'],
  ['1h', '1 hour'],
  ['7d', '7 days'],
  ['0', 'None: the old key ends now'],
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
 * The key that is signed in: it hands on no scope that it lacks, and makes no key that ends later. Undefined where that is not told, as
 * behind a proxy that leads to the administration alone.
 * @returns {Promise<Key | undefined>}
 */
async function ownKey() {
  try {
    return (await ask('GET', '../account')).body.key;
  } catch (error) {
    if (error instanceof Refusal && (error.status === 404 || error.is('no_account'))) return undefined;
    throw error;
  }
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
  const [{ body: scopes }, own] = await Promise.all([ask('GET', 'scopes'), ownKey()]);
  const isHeld = (/** @type {string} */ scope) => own === undefined || own.scopes.includes(scope);
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
          clientId: client.id,
          scopes: new FormData(form).getAll('scopes'),
          label: valueOf(form, 'label'),
          expires: valueOf(form, 'expires'),
        },
      }),
  });
  if (!issued) return false;
  await showSecret('The new key', issued.key, 'Give it to the client on a way that nobody reads along.');
  return true;
}

/** @param {Key} key @returns {Promise<boolean>} whether it was done */
export async function rotate(key) {
  // Its secret is known here alone, so what can be compared is its beginning; of another key that begins alike the tab learns by the
  // next answer.
  const isOfTab = key.scopes.includes('admin') && keyOfTab()?.startsWith(key.prefix) === true;
  const end = (await ownKey())?.expiresAt;
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

/** @param {Key} key @returns {Promise<boolean>} whether it was done */
export async function revoke(key) {
  const done = await confirm({
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
  });
  if (done) tell('The key is revoked.');
  return done !== undefined;
}

/** @param {Key} key @param {string} until @returns {Promise<boolean>} whether it was done */
export async function unban(key, until) {
  const done = await confirm({
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
  });
  if (done) tell('The ban is lifted.');
  return done !== undefined;
}
