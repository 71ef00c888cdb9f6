// @ts-check
// What is done with a webhook endpoint, each asked before it is done.
import { ask, strangeAnswer } from './admin-api.js';
import { confirm } from './dialogs.js';
import { el, tell } from './elements.js';
import { GRACES, choice, field, valueOf } from './fields.js';
import { showSecret } from './secret-dialog.js';

/**
 * @typedef {object} Endpoint
 * @property {string} id
 * @property {string} clientId
 * @property {string} url
 * @property {string | null} label
 * @property {string[]} events
 * @property {boolean} enabled
 * @property {string | null} disabledBecause
 * @property {string | null} failingSince
 * @property {string} createdAt
 */

const SECRET_NOTE = 'The receiver verifies each message with it (Standard Webhooks).';

/** Orders a new secret, and answers what shows it. @param {string} path @param {unknown} json @param {string} title */
async function orderSecret(path, json, title) {
  const { body } = await ask('POST', path, { json });
  if (typeof body.secret !== 'string') throw strangeAnswer(true);
  return () => showSecret(title, body.secret, SECRET_NOTE, 'secret');
}

/** @param {string | undefined} clientId undefined for the own client @returns {Promise<boolean>} whether it was done */
export async function createEndpoint(clientId) {
  const { body: offered } = await ask('GET', 'webhook-events');
  const show = await confirm({
    title: 'New webhook endpoint',
    body: [
      field(
        'Address',
        el('input', { name: 'url', type: 'url', required: true, maxlength: 2048, autocomplete: 'off' }),
        'Messages are sent there by POST, such as https://shop.example.com/webhooks.',
      ),
      el(
        'fieldset',
        {},
        el('legend', {}, 'Events'),
        offered.map((/** @type {any} */ { name, description, scope }) =>
          el(
            'label',
            { class: 'check' },
            el('input', { type: 'checkbox', name: 'events', value: name }),
            el(
              'span',
              {},
              el('code', {}, name),
              el('small', {}, ` ${firstSentence(description)}${scope === null ? '' : ` Needs ${scope}.`}`),
            ),
          ),
        ),
      ),
      field('Label', el('input', { name: 'label', maxlength: 255, autocomplete: 'off' }), 'It may be empty.'),
    ],
    action: 'Make the endpoint',
    unsure:
      'The endpoint may have been made all the same: look at the list, and delete it if you have not its secret.',
    run: (form) => {
      const events = new FormData(form).getAll('events');
      const order = { clientId, url: valueOf(form, 'url') ?? '', events, label: valueOf(form, 'label') };
      return orderSecret('webhooks', order, 'The secret of the endpoint');
    },
  });
  await show?.();
  return show !== undefined;
}

/** What follows describes the members of the message, for who writes the receiver. @param {string} text */
function firstSentence(text) {
  return `${text.split(/[.;] /, 1)[0].replace(/\.$/, '')}.`;
}

/** @param {Endpoint} endpoint @returns {Promise<boolean>} whether it was done */
export async function rotateSecret({ id }) {
  const show = await confirm({
    title: 'Rotate the secret?',
    body: [
      el('p', {}, 'Messages are signed with both secrets until the grace period is over.'),
      field('Grace of the old secret', choice('grace', GRACES)),
    ],
    action: 'Rotate',
    unsure: 'The secret may have been rotated all the same: rotate it again to see one.',
    run: (form) =>
      orderSecret(`webhooks/${id}/rotate-secret`, { grace: valueOf(form, 'grace') }, 'The new secret'),
  });
  await show?.();
  return show !== undefined;
}

/** @param {Endpoint} endpoint @returns {Promise<boolean>} whether it was done */
export async function sendTest({ id }) {
  await ask('POST', `webhooks/${id}/test`);
  tell('A test is sent after the messages that wait.');
  return true;
}

/** @param {string} endpointId @param {string} id of the delivery @returns {Promise<boolean>} whether it was done */
export async function redeliver(endpointId, id) {
  await ask('POST', `webhooks/${endpointId}/deliveries/${id}/redeliver`);
  tell('The message is sent again, after those that wait.');
  return true;
}

/** Disables an endpoint, or enables it. @param {Endpoint} endpoint @returns {Promise<unknown>} undefined when it was cancelled */
export function turn({ id, enabled }) {
  return confirm({
    title: enabled ? 'Disable this endpoint?' : 'Enable this endpoint?',
    body: [
      el(
        'p',
        {},
        enabled
          ? 'It is sent nothing until it is enabled again, and never what happens in that time.'
          : 'It continues with the messages that waited when it was disabled.',
      ),
    ],
    action: enabled ? 'Disable' : 'Enable',
    danger: enabled,
    run: async () => (await ask('PATCH', `webhooks/${id}`, { json: { enabled: !enabled } })).body,
    done: enabled ? 'The endpoint is disabled.' : 'The endpoint is enabled.',
  });
}

/** @param {Endpoint} endpoint @returns {Promise<unknown>} undefined when it was cancelled */
export function remove({ id, url }) {
  return confirm({
    title: 'Delete this endpoint?',
    body: [el('p', {}, el('code', {}, url), ' and its log are deleted. What waits for it is never sent.')],
    action: 'Delete for good',
    danger: true,
    run: async () => (await ask('DELETE', `webhooks/${id}`)).body,
    done: 'The endpoint is deleted.',
  });
}
