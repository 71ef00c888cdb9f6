// @ts-check
// The parts of views: head, cards, facts and tables.
import { errorMessage } from './dialogs.js';
import { el, replaceContent, setText } from './elements.js';

/** @typedef {import('./elements.js').Child} Child */

/** A view: a head with its title and buttons, and the content below. */
class View {
  title = el('h1', { dir: 'auto' }, 'Loading…');
  #badges = el('span.badges');
  #actions = el('div.head-actions');
  #errorBox = el('div.error', { role: 'alert' });

  /**
   * @param {Element} main
   * @param {{ title?: string, back?: readonly [href: string, text: string], links?: Child[], buttons?: HTMLButtonElement[] }} head
   * @param {...Child} parts
   */
  constructor(main, { title, back, links = [], buttons = [] }, ...parts) {
    if (title) setText(this.title, title);
    this.buttons = buttons;
    replaceContent(this.#actions, links, buttons);
    this.body = el('div', { class: title ? null : 'columns' }, parts);
    const [href, text] = back ?? [];
    replaceContent(
      main,
      href && el('nav.crumbs', { 'aria-label': 'Breadcrumb' }, el('a', { href }, text)),
      el('div.view-head', el('div.title', this.title, this.#badges), this.#actions),
      this.#errorBox,
      this.body,
    );
  }

  /** Sets the title of the loaded object, and enables the buttons. @param {string} title @param {...(Child | Child[])} badges */
  show(title, ...badges) {
    setText(this.title, title);
    replaceContent(this.#badges, ...badges);
    for (const button of this.buttons) button.disabled = false;
  }

  /**
   * Shows "Not found" if a request was refused for that reason.
   * @param {import('./admin-api.js').Refusal} refusal
   * @param {string} code
   * @param {Child} [instead] a hint where to find a deleted object
   */
  isGone(refusal, code, instead) {
    if (!refusal.is(code)) return false;
    this.show('Not found');
    document.title = document.title.replace(/^.* · /, 'Not found · ');
    replaceContent(this.#errorBox, errorMessage(refusal));
    replaceContent(this.#actions);
    replaceContent(this.body, instead);
    return true;
  }
}

/** Shows a view with a head. @param {ConstructorParameters<typeof View>} parts */
export function showView(...parts) {
  return new View(...parts);
}

let cards = 0;

/** A card, whose accessible name is its heading. @param {string} title @param {Child} tools shown next to the heading @param {...(Child | Child[])} parts */
export function card(title, tools, ...parts) {
  const id = `card-${(cards += 1)}`;
  const head = el('h2', { id }, title);
  return el(
    'section.card',
    { 'aria-labelledby': id },
    tools ? el('div.card-head', head, tools) : head,
    ...parts,
  );
}

/** A list of names and values. @param {readonly (readonly [name: string, value: Child] | false)[]} all false items are omitted */
export function facts(all) {
  const shown = all.filter((fact) => fact !== false);
  return el(
    'dl.facts',
    shown.map(([name, value]) => el('div', el('dt', name), el('dd', value))),
  );
}

/** Names in code style, on one line. @param {readonly string[]} names */
export function codes(names) {
  return el(
    'span.scopes',
    names.map((name) => el('code', name)),
  );
}

/**
 * A table with these column titles. The explicit roles are needed where its rows become blocks in a narrow window (`.blocks`), which would
 * remove the implicit ones.
 * @param {readonly string[]} titles @param {HTMLElement} body
 */
export function tableOf(titles, body) {
  const heads = titles.map((title) => el('th', { scope: 'col', role: 'columnheader' }, title));
  const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, heads));
  return el('table', { role: 'table' }, head, body);
}

/** A table in its own scroll container. The first cell of each row is its header. */
export class Table {
  #shown = '';

  /** @param {string} label @param {readonly string[]} titles @param {string} none the text shown if there are no rows @param {string} [classes] its classes, each after a dot */
  constructor(label, titles, none = '', classes = '') {
    this.titles = titles;
    this.none = none;
    this.element = el(/** @type {`div.${string}`} */ (`div.table-room${classes}`), {
      tabindex: '0',
      role: 'region',
      'aria-label': label,
    });
  }

  /** @param {readonly (readonly [name: Child, ...Child[]])[]} rows */
  show(rows) {
    const cellOf = (/** @type {Child} */ cell, /** @type {number} */ at) => {
      const isNumber = typeof cell === 'string' && /^[\d,.–]+$/.test(cell);
      return el(isNumber ? 'td' : 'td.text', { role: 'cell', 'data-title': this.titles[at + 1] }, cell);
    };
    const rowOf = (/** @type {readonly [name: Child, ...Child[]]} */ [name, ...cells]) =>
      el('tr', { role: 'row' }, el('th', { scope: 'row', role: 'rowheader' }, name), cells.map(cellOf));
    const table = tableOf(this.titles, el('tbody', { role: 'rowgroup' }, rows.map(rowOf)));
    // An unchanged table keeps its selection and scroll position.
    if (table.outerHTML === this.#shown) return;
    this.#shown = table.outerHTML;
    replaceContent(this.element, rows.length === 0 ? this.none : table);
  }
}
