// @ts-check
// Dialogs of the browser's own <dialog>: it keeps the focus inside, closes with Escape, and gives the focus back.
import { Refusal, strangeAnswer } from './admin-api.js';
import { el, put, tell } from './elements.js';
import { holdSession } from './session.js';

let dialogs = 0;

/** An id for the heading of a dialog, which names it. */
export function headingOfDialog() {
  return `dialog-${(dialogs += 1)}`;
}

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {import('./elements.js').Child[]} body what will happen, and fields
 * @property {string} action the words of the button
 * @property {boolean} [danger] whether it cannot be undone
 * @property {string} [done] what is told when it was done
 * @property {string} [unsure] what may have happened when no answer came
 * @property {(form: HTMLFormElement, force: boolean) => Promise<any>} run does it; what it throws is shown in the dialog
 */

/** What may have happened when no answer to an order came. */
const UNSURE = 'It may have been done all the same: look before you repeat it.';

/**
 * Does one thing at a time: while it runs, a second click does nothing. What it is refused is told.
 * @param {() => Promise<unknown>} work
 * @returns {() => Promise<void>}
 */
export function alone(work) {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      tell(`${error.message} (${error.code})`);
    } finally {
      isRunning = false;
    }
  };
}

/**
 * Keeps a dialog open until `mayClose` says otherwise, and calls `kept` for each try to close it. Browsers take a second Escape for
 * an order whatever the page says to the first, and a phone's gesture as well.
 * @param {HTMLDialogElement} dialog
 * @param {() => boolean} mayClose
 * @param {() => void} [kept]
 * @returns {Promise<void>} when it was closed
 */
export function closedAtLast(dialog, mayClose, kept) {
  const refuse = (/** @type {Event} */ event) => {
    if (mayClose()) return;
    event.preventDefault();
    kept?.();
  };
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') refuse(event);
  });
  dialog.addEventListener('cancel', refuse);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      if (mayClose()) {
        dialog.remove();
        resolve();
        return;
      }
      dialog.showModal();
      kept?.();
    });
  });
}

/**
 * Asks before something is done, and does it; the dialog stays open when it is refused, with the reason, and cannot be closed while
 * the answer is on its way. Answers what `run` answered, or undefined when it was cancelled.
 * @param {Question} question
 * @returns {Promise<any>}
 */
export async function confirm({ title, body, action, danger = false, done, unsure = UNSURE, run }) {
  const heading = headingOfDialog();
  const fault = el('div', { class: 'fault', role: 'alert' });
  const force = el('input', { type: 'checkbox', name: 'force' });
  const anyway = el('label', { class: 'check', hidden: true }, force, el('span', {}, 'I know, do it anyway'));
  const cancel = el('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel');
  const go = el('button', { class: danger ? 'danger' : 'primary' }, action);
  const form = el(
    'form',
    {},
    el('h2', { id: heading }, title),
    ...body,
    fault,
    anyway,
    el('div', { class: 'actions' }, cancel, go),
  );
  const dialog = el('dialog', { 'aria-labelledby': heading }, form);
  /** @type {any} */
  let result;
  let isUnderWay = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isUnderWay) void submit();
  });

  async function submit() {
    const release = holdSession();
    isUnderWay = go.disabled = cancel.disabled = true;
    put(fault);
    try {
      result = await run(form, force.checked);
      isUnderWay = false;
      dialog.close();
    } catch (error) {
      // What is no refusal is an answer of another shape than the service has.
      if (!(error instanceof Refusal)) reportError(error);
      const refusal = error instanceof Refusal ? error : strangeAnswer(true);
      put(fault, faultOf(refusal), refusal.mayBeDone && el('p', {}, unsure));
      if (refusal.code === 'last_key_with_scope') anyway.hidden = false;
    } finally {
      isUnderWay = go.disabled = cancel.disabled = false;
      release();
    }
  }

  // The session ended while it was open: what it asks can no longer be done.
  const ended = () => dialog.close();
  addEventListener('petstore:session', ended);
  document.body.append(dialog);
  dialog.showModal();
  // What cannot be undone does not lie under the first Enter.
  const first = form.querySelector('input:not([name=force]), select');
  if (danger || !(first instanceof HTMLElement)) cancel.focus();
  else first.focus();
  await closedAtLast(dialog, () => !isUnderWay);
  removeEventListener('petstore:session', ended);
  if (result !== undefined && done !== undefined) tell(done);
  return result;
}

/** A refusal in words, with its code and what is wrong in each field. @param {Refusal} refusal */
export function faultOf({ message, code, details }) {
  return el(
    'div',
    {},
    el('p', {}, message, ' ', el('code', {}, code)),
    details.length > 0 &&
      el(
        'ul',
        {},
        details.map(({ field: at, message: said }) => el('li', {}, at === '' ? said : `${at}: ${said}`)),
      ),
  );
}
