// @ts-check
// What an operator does with a client, each asked before it is done.
import { Refusal, ask } from './admin-api.js';
import { confirm } from './dialogs.js';
import { choice, field, valueOf } from './fields.js';
import { el, written } from './elements.js';

/** @typedef {{ id: string, name: string, plan: string, perMinute: number, perDay: number, suspendedAt: string | null }} Client */

/** @type {readonly (readonly [string, string])[]} */
const PLANS = [
  ['free', 'Free'],
  ['pro', 'Pro'],
  ['business', 'Business'],
  ['enterprise', 'Enterprise: custom limits'],
];

/** Fields of a plan and, for enterprise, its limits. @param {Partial<Client>} client */
function planFields({ plan = 'free', perMinute, perDay }) {
  const own = plan === 'enterprise';
  const limit = (/** @type {string} */ name, /** @type {number | undefined} */ value) =>
    el('input', {
      name,
      type: 'number',
      min: 1,
      max: 1_000_000_000,
      inputmode: 'numeric',
      value: own ? value : '',
    });
  const fields = [limit('perMinute', perMinute), limit('perDay', perDay)];
  const [minute, day] = fields;
  const limits = el(
    'div',
    { class: 'pair' },
    field('Requests per minute', minute),
    field('Requests per UTC day', day),
  );
  const plans = choice('plan', PLANS, plan);
  const follow = () => {
    limits.hidden = plans.value !== 'enterprise';
    // A wrong number in a field that nobody sees would keep the browser from sending the form.
    for (const one of fields) one.disabled = limits.hidden;
  };
  plans.addEventListener('change', follow);
  follow();
  return [field('Plan', plans), limits];
}

/** @param {HTMLFormElement} form */
function planOf(form) {
  const plan = valueOf(form, 'plan');
  if (plan !== 'enterprise') return { plan };
  const limit = (/** @type {string} */ name) => {
    const text = valueOf(form, name);
    return text === undefined ? {} : { [name]: Number(text) };
  };
  return { plan, ...limit('perMinute'), ...limit('perDay') };
}

/** Makes a client; answers it, or undefined when it was cancelled. @returns {Promise<Client | undefined>} */
export function createClient() {
  return confirm({
    title: 'New client',
    body: [
      field('Name', el('input', { name: 'name', required: true, maxlength: 255, autocomplete: 'off' })),
      ...planFields({}),
    ],
    action: 'Make the client',
    unsure: 'The client may have been made all the same: look for it by its name before you make it again.',
    run: async (form) =>
      (await ask('POST', 'clients', { json: { name: valueOf(form, 'name') ?? '', ...planOf(form) } })).body,
    done: 'The client was made. It has no key yet.',
  });
}

/** @param {Client} client @param {string | null} tag of the client as it was seen @returns {Promise<unknown>} undefined when it was cancelled */
export function changePlan(client, tag) {
  let seen = tag;
  return confirm({
    title: 'Change the plan',
    body: [
      el(
        'p',
        {},
        'The new limits hold for ',
        written(client.name),
        ' within a second. Its usage so far still counts.',
      ),
      ...planFields(client),
    ],
    action: 'Change the plan',
    run: async (form) => {
      try {
        return (await ask('PATCH', `clients/${client.id}`, { json: planOf(form), ifMatch: seen })).body;
      } catch (error) {
        if (!(error instanceof Refusal) || !error.is('precondition_failed')) throw error;
        // Another operator has changed it since this dialog was opened: then this one decides anew.
        const { body, tag: now } = await ask('GET', `clients/${client.id}`, { query: { days: 1 } });
        seen = now;
        const limits = `${body.perMinute} per minute and ${body.perDay} per day`;
        const message = `Somebody else has changed it: the plan is ${body.plan} now, with ${limits}. Repeat to change it nevertheless.`;
        throw new Refusal(412, error.code, message);
      }
    },
    done: 'The plan was changed.',
  });
}

/** @param {Client} client @returns {Promise<unknown>} undefined when it was cancelled */
export function suspend(client) {
  return confirm({
    title: 'Suspend this client?',
    body: [
      el(
        'p',
        {},
        'Every key of ',
        written(client.name),
        ' is refused from now on, with 403 ',
        el('code', {}, 'client_suspended'),
        ', until you resume it. Nothing is deleted.',
      ),
    ],
    action: 'Suspend',
    danger: true,
    run: async (_, force) =>
      (await ask('POST', `clients/${client.id}/suspend`, { query: { force: force || undefined } })).body,
    done: 'The client is suspended.',
  });
}

/** @param {Client} client @returns {Promise<unknown>} undefined when it was cancelled */
export function resume(client) {
  return confirm({
    title: 'Resume this client?',
    body: [
      el(
        'p',
        {},
        'The keys of ',
        written(client.name),
        ' work again at once, except those that have ended in the meantime.',
      ),
    ],
    action: 'Resume',
    run: async () => (await ask('POST', `clients/${client.id}/resume`)).body,
    done: 'The client is resumed.',
  });
}
