// @ts-check
// The fields of forms in dialogs.
import { el } from './elements.js';

/** How long what is rotated still works. @type {readonly (readonly [string, string])[]} */
export const GRACES = [
  ['24h', '24 hours'],
  ['1h', '1 hour'],
  ['7d', '7 days'],
  ['0', 'None: the old one ends now'],
];

/** A field with its label and a note below it. @param {string} label @param {HTMLElement} control @param {string} [note] */
export function field(label, control, note) {
  return el(
    'label',
    { class: 'field' },
    el('span', {}, label),
    control,
    note !== undefined && el('small', {}, note),
  );
}

/** @param {string} name @param {readonly (readonly [value: string, text: string])[]} options @param {string} [chosen] */
export function choice(name, options, chosen) {
  return el(
    'select',
    { name },
    options.map(([value, text]) => el('option', { value, selected: value === chosen }, text)),
  );
}

/** The text of a field of a form; undefined when it is empty. @param {HTMLFormElement} form @param {string} name */
export function valueOf(form, name) {
  const value = new FormData(form).get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
