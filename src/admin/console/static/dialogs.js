// @ts-check
// Dialogs based on the <dialog> element, which traps the focus, closes on Escape, and restores the focus.
import { Refusal, request, unexpectedResponse } from './admin-api.js';
import { button } from './controls.js';
import { el, notify, replaceContent } from './elements.js';
import { holdSession } from './session.js';

/** @typedef {import('./elements.js').Child} Child */

let dialogs = 0;

/** Opens a dialog, whose accessible name is its heading. @param {string} title @param {HTMLElement} content @param {...Child} parts */
function open(title, content, ...parts) {
  const id = `dialog-${(dialogs += 1)}`;
  content.append(el('h2', { id }, title));
  for (const part of parts) if (part instanceof Node) content.append(part);
  const dialog = el('dialog', { 'aria-labelledby': id }, content);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Keeps a dialog open while `mayClose` returns false, and calls `onBlocked` for each attempt to close it. Browsers close it on a second
 * Escape, or a gesture on phones, even if the page has prevented the first; it is then opened again.
 * @param {HTMLDialogElement} dialog
 * @param {() => boolean} mayClose
 * @param {() => void} [onBlocked]
 * @returns {Promise<void>} resolves when it is closed
 */
function waitForClose(dialog, mayClose, onBlocked) {
  const refuse = (/** @type {Event} */ event) => {
    if (mayClose()) return;
    event.preventDefault();
    onBlocked?.();
  };
  dialog.addEventListener('keydown', (event) => event.key === 'Escape' && refuse(event));
  dialog.addEventListener('cancel', refuse);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      if (mayClose()) {
        dialog.remove();
        resolve();
        return;
      }
      dialog.showModal();
      onBlocked?.();
    });
  });
}

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {Child[]} body a description of the change, and fields
 * @property {string} action the label of the button
 * @property {readonly [method: string, path: string]} operation
 * @property {(form: HTMLFormElement) => unknown} [json] the body of the request
 * @property {(form: HTMLFormElement) => Record<string, boolean>} [query] of the request
 * @property {boolean} [danger] whether it cannot be undone
 * @property {string} [done] the message after the change
 * @property {string} [unsure] the possible outcome, shown if there is no response
 * @property {(send: (ifMatch?: string | null) => Promise<any>) => Promise<any>} [run] sends the request; an error that it throws is shown
 * @property {{ member: 'key' | 'secret', title: string, note: string }} [secret] the secret in the response, which is shown only once
 */

/**
 * Confirms a change and makes it. If it is refused, the dialog stays open with the reason; it cannot be closed while the request is
 * running. Returns the response, or undefined if canceled.
 * @param {Question} question
 * @returns {Promise<any>}
 */
export async function confirm({
  title,
  body,
  action,
  operation,
  json,
  query,
  danger = false,
  done,
  unsure,
  run,
  secret,
}) {
  const errorBox = el('div.error', { role: 'alert' });
  const force = el('input', { type: 'checkbox', name: 'force' });
  const anyway = el('label.check', { hidden: true }, force, el('span', 'Do it anyway'));
  const cancel = button('Cancel', () => dialog.close());
  const go = el('button', { class: danger ? 'danger' : 'primary' }, action);
  const form = el('form');
  const dialog = open(title, form, ...body, errorBox, anyway, el('div.actions', cancel, go));
  /** @type {any} */
  let result;
  let isUnderWay = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!isUnderWay) void submit();
  });
  const [method, path] = operation;
  const send = async (/** @type {string | null} */ ifMatch = null) => {
    const options = {
      query: { force: force.checked || undefined, ...query?.(form) },
      json: json?.(form),
      ifMatch,
    };
    const response = await request(method, path, options);
    if (secret && typeof response.body[secret.member] !== 'string') throw unexpectedResponse(true);
    return response.body;
  };

  async function submit() {
    const release = holdSession();
    isUnderWay = go.disabled = cancel.disabled = true;
    replaceContent(errorBox);
    clearErrors(form);
    try {
      result = run ? await run(send) : await send();
      isUnderWay = false;
      dialog.close();
    } catch (error) {
      // An error of any other class is caused by a response that does not match the API.
      if (!(error instanceof Refusal)) reportError(error);
      const refusal = error instanceof Refusal ? error : unexpectedResponse(true);
      const doubt = unsure ?? 'It may have been carried out: check before you repeat it.';
      const others = markErrors(form, refusal.details);
      const isAllMarked = refusal.details.length > 0 && others.length === 0;
      replaceContent(
        errorBox,
        !isAllMarked && errorMessage({ code: refusal.code, message: refusal.message, details: others }),
        refusal.mayBeDone && el('p', doubt),
      );
      if (refusal.code === 'last_key_with_scope') anyway.hidden = false;
    } finally {
      isUnderWay = go.disabled = cancel.disabled = false;
      // The disabled button has lost the focus.
      if (dialog.open && !form.contains(document.activeElement)) go.focus();
      release();
    }
  }

  // The session ended while the dialog was open, so its request can no longer be sent.
  const ended = () => dialog.close();
  addEventListener('petstore:session', ended);
  const first = form.querySelector('input:not([name=force]), select');
  // Enter must not confirm a change that cannot be undone.
  if (danger || !(first instanceof HTMLElement)) cancel.focus();
  else first.focus();
  await waitForClose(dialog, () => !isUnderWay);
  removeEventListener('petstore:session', ended);
  if (result === undefined) return undefined;
  if (done) notify(done);
  if (secret) await showSecret(secret.title, result[secret.member], secret.note, secret.member);
  return result;
}

/**
 * Shows a key or another secret once, with a button that copies it. If it was not copied, closing asks for confirmation. The session does
 * not end before it is closed.
 * @param {string} title
 * @param {string} secret
 * @param {string} note
 * @param {string} what `key` or `secret`
 */
async function showSecret(title, secret, note, what) {
  const release = holdSession();
  let wasCopied = false;
  let isStored = false;
  const oncopy = () => {
    wasCopied = true;
  };
  const attributes = { readonly: true, rows: 2, spellcheck: 'false', oncopy };
  // A textarea wraps its text, so that phones show all of it.
  const shown = el('textarea.secret', { 'aria-label': `The new ${what}`, ...attributes }, secret);
  const copy = button('Copy', copied, '.primary');
  const back = button('Go back', () => confirmClose(false));
  // The second click of a double-click was meant for the previous button in this place.
  const leave = button('Close anyway', ({ detail }) => detail < 2 && close(), '.danger');
  const question = el('div.error', { role: 'alert' });
  const again = el('div.actions', { hidden: true }, back, leave);
  const usual = el(
    'div.actions',
    button('I have stored it', () => (wasCopied ? close() : confirmClose(true))),
  );
  const dialog = open(
    title,
    el('div.form'),
    el('p', `Copy the ${what} now: it is shown only once.`),
    el('div.secret-line', shown, copy),
    el('p.note', note),
    question,
    usual,
    again,
  );

  /** @param {boolean} isConfirming */
  function confirmClose(isConfirming) {
    replaceContent(
      question,
      isConfirming && el('p', `Have you stored the ${what}? It cannot be shown again after you close this.`),
    );
    usual.hidden = isConfirming;
    again.hidden = !isConfirming;
    if (isConfirming) back.focus();
    else copy.focus();
  }

  function close() {
    isStored = true;
    dialog.close();
  }

  async function copied() {
    shown.select();
    try {
      await navigator.clipboard.writeText(secret);
      wasCopied = true;
      copy.textContent = 'Copied';
    } catch {
      // Without https, browsers do not give pages access to the clipboard.
      copy.textContent = 'Press Ctrl+C';
      shown.focus();
    }
  }

  copy.focus();
  const mayClose = () => isStored;
  await waitForClose(dialog, mayClose, () => confirmClose(true));
  shown.value = '';
  notify(`The ${what} is not shown again.`);
  release();
}

/** @typedef {{ field: string, message: string }} FieldError */

/** Puts errors below their fields, and the focus into the first. Returns those without a field. @param {HTMLFormElement} form @param {readonly FieldError[]} errors */
function markErrors(form, errors) {
  /** @type {FieldError[]} */
  const others = [];
  for (const one of errors) {
    const name = one.field.split(/[.[]/, 1)[0] ?? '';
    const control = form.querySelector(`[name="${CSS.escape(name)}"]`);
    const container = control?.closest('fieldset, .field');
    if (
      !(control instanceof HTMLElement) ||
      !(container instanceof HTMLElement) ||
      control.offsetParent === null
    ) {
      others.push(one);
      continue;
    }
    const id = `error-${(dialogs += 1)}`;
    container.after(el('p.field-error', { id }, one.message));
    control.setAttribute('aria-invalid', 'true');
    control.setAttribute('aria-describedby', id);
    if (form.querySelector('[aria-invalid]') === control) control.focus();
  }
  return others;
}

/** @param {HTMLFormElement} form */
function clearErrors(form) {
  for (const note of form.querySelectorAll('.field-error')) note.remove();
  for (const control of form.querySelectorAll('[aria-invalid]')) {
    control.removeAttribute('aria-invalid');
    control.removeAttribute('aria-describedby');
  }
}

/** A refusal in words, with its code and the error of each field. @param {Pick<Refusal, 'message' | 'code' | 'details'>} refusal */
export function errorMessage({ message, code, details }) {
  const errors = details.map(({ field: at, message: text }) => el('li', at === '' ? text : `${at}: ${text}`));
  return el('div', el('p', message, ' ', el('code', code)), errors.length > 0 && el('ul', errors));
}
