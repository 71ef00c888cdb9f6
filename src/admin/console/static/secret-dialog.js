// @ts-check
// Shows a key or another secret, this once.
import { closedAtLast, headingOfDialog } from './dialogs.js';
import { el, put, tell } from './elements.js';
import { holdSession } from './session.js';

/**
 * Shows a key or another secret, this once, with a button that copies it. It stays until the reader closes it, who is asked once more
 * while it was not copied; the end of the session waits for that.
 * @param {string} title
 * @param {string} secret
 * @param {string} note
 * @param {string} what it is
 */
export async function showSecret(title, secret, note, what = 'key') {
  const heading = headingOfDialog();
  const release = holdSession();
  let wasCopied = false;
  let isStored = false;
  const shown = el('input', {
    type: 'text',
    readonly: true,
    value: secret,
    class: 'secret',
    'aria-label': `The new ${what}`,
    spellcheck: 'false',
    oncopy: () => {
      wasCopied = true;
    },
  });
  const copy = el('button', { type: 'button', class: 'primary', onclick: () => void copied() }, 'Copy');
  const done = el(
    'button',
    { type: 'button', class: 'quiet', onclick: () => (wasCopied ? close() : askAgain(true)) },
    'I have stored it',
  );
  const back = el('button', { type: 'button', class: 'quiet', onclick: () => askAgain(false) }, 'Go back');
  const leave = el(
    'button',
    {
      type: 'button',
      class: 'danger',
      // The second of two quick clicks was meant for what was here before.
      onclick: (/** @type {MouseEvent} */ { detail }) => detail < 2 && close(),
    },
    'Close it for good',
  );
  const question = el('div', { class: 'fault', role: 'alert' });
  const again = el('div', { class: 'actions', hidden: true }, back, leave);
  const usual = el('div', { class: 'actions' }, done);
  const dialog = el(
    'dialog',
    { 'aria-labelledby': heading },
    el('h2', { id: heading }, title),
    el('p', {}, `Copy the ${what} now: it is shown this once.`),
    el('div', { class: 'secret-line' }, shown, copy),
    el('p', { class: 'note' }, note),
    question,
    usual,
    again,
  );

  /** @param {boolean} isAsked */
  function askAgain(isAsked) {
    put(
      question,
      isAsked && el('p', {}, `Is the ${what} stored? Once this is closed, nobody can show it again.`),
    );
    usual.hidden = isAsked;
    again.hidden = !isAsked;
    if (isAsked) back.focus();
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
      // Without https the browser offers no clipboard to pages.
      copy.textContent = 'Press Ctrl+C';
      shown.focus();
    }
  }

  document.body.append(dialog);
  dialog.showModal();
  copy.focus();
  await closedAtLast(
    dialog,
    () => isStored,
    () => askAgain(true),
  );
  shown.value = '';
  tell(`The ${what} is not shown again.`);
  release();
}
