// @ts-check
// Buttons and the fields of forms.
import { Refusal } from './admin-api.js';
import { el, notify } from './elements.js';

/** How long a rotated key or secret still works. @type {readonly (readonly [string, string])[]} */
export const GRACES = [
  ['24h', '24 hours'],
  ['1h', '1 hour'],
  ['7d', '7 days'],
  ['0', 'None: it expires immediately'],
];

/**
 * A button. Clicks while `work` is running are ignored; a refusal is shown as a message.
 * @param {string} text
 * @param {(event: MouseEvent) => unknown} work
 * @param {string} [classes] its classes, each after a dot
 * @param {import('./elements.js').Attributes} [attributes]
 */
export function button(text, work, classes = '.quiet', attributes = {}) {
  let isRunning = false;
  const run = async (/** @type {MouseEvent} */ event) => {
    if (isRunning) return;
    isRunning = true;
    try {
      await work(event);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      notify(`${error.message} (${error.code})`);
    } finally {
      isRunning = false;
    }
  };
  const more = {
    type: 'button',
    ...attributes,
    onclick: (/** @type {MouseEvent} */ event) => void run(event),
  };
  return el(/** @type {`button.${string}`} */ (`button${classes}`), more, text);
}

/** Returns a function that creates the buttons of a view, which are enabled once its data is loaded. @param {() => void} changed */
export function changeButtons(changed) {
  return (/** @type {string} */ text, /** @type {() => Promise<unknown>} */ run, classes = '.quiet') =>
    button(text, async () => (await run()) && changed(), `${classes}.changes`, { disabled: true });
}

/** Makes the browser save text as a file. @param {string} text @param {string} type @param {string} name */
export function download(text, type, name) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  el('a', { href, download: name }).click();
  URL.revokeObjectURL(href);
}

/** A field with its label and a note below it. @param {string} label @param {HTMLElement} control @param {string} [note] */
export function field(label, control, note) {
  return el('label.field', el('span', label), control, note !== undefined && el('small', note));
}

/** A field for text. @param {string} label @param {string} name @param {import('./elements.js').Attributes} [attributes] @param {string} [note] */
export function textField(label, name, attributes, note) {
  return field(label, el('input', { name, maxlength: 255, autocomplete: 'off', ...attributes }), note);
}

/** @param {string} name @param {readonly (readonly [value: string, text: string])[]} options @param {string} [chosen] */
export function choice(name, options, chosen) {
  const items = options.map(([value, text]) => el('option', { value, selected: value === chosen }, text));
  return el('select', { name }, items);
}

/**
 * Checkboxes, whose values `chosenIn` reads.
 * @param {string} legend
 * @param {string} name
 * @param {{ value: string, text: string, checked?: boolean, disabled?: boolean }[]} offered
 * @param {import('./elements.js').Child} [note]
 */
export function boxes(legend, name, offered, note) {
  const items = offered.map(({ text, ...box }) =>
    el(
      'label.check',
      el('input', { type: 'checkbox', name, ...box }),
      el('span', el('code', box.value), el('small', ` ${text}`)),
    ),
  );
  return el('fieldset', el('legend', legend), items, note);
}

/** @param {HTMLFormElement} form @param {string} name */
export function chosenIn(form, name) {
  return new FormData(form).getAll(name);
}

/** The text in a field of a form; undefined if it is empty. @param {HTMLFormElement} form @param {string} name */
export function valueOf(form, name) {
  const value = new FormData(form).get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
