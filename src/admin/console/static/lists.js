// @ts-check
// A list of the service, one page at a time, however long it is.
import { ask } from './admin-api.js';
import { button } from './controls.js';
import { el, number, say } from './elements.js';

/** Turns pages: forwards by what the shown page says, backwards by what was seen. @template Place where a page begins, such as a cursor */
export class Pages {
  /** Where the pages before this one begin; undefined is the first. @type {(Place | undefined)[]} */
  #before = [];
  /** @type {Place | undefined} */
  #place;
  /** @type {Place | undefined} */
  #next;
  #turn = 0;

  /** @param {() => void} turned is called when another page is wanted */
  constructor(turned) {
    this.back = button('← Previous', () => {
      if (this.#before.length === 0) return;
      this.#show(this.#before.pop());
      turned();
    });
    this.forth = button('Next →', () => {
      // Unknown until the page has come: a second click turns nothing.
      if (this.#next === undefined) return;
      this.#before.push(this.#place);
      this.#show(this.#next);
      turned();
    });
    this.where = el('span', { 'aria-live': 'polite' });
    this.bar = el('nav.pages', { 'aria-label': 'Pages', hidden: true }, this.back, this.where, this.forth);
  }

  /** The page that is wanted: where it begins, undefined for the first, and the turn that `arrived` expects. */
  get wanted() {
    return { place: this.#place, turn: this.#turn };
  }

  /** Begins at the first page again. */
  reset() {
    this.#before = [];
    this.#show(undefined);
  }

  /** Learns where the next page begins. Returns false when another page is wanted by now. @param {number} turn @param {Place | undefined} next */
  arrived(turn, next) {
    if (turn !== this.#turn) return false;
    this.#next = next;
    this.back.disabled = this.#before.length === 0;
    this.forth.disabled = next === undefined;
    this.bar.hidden = this.back.disabled && this.forth.disabled;
    say(this.where, this.bar.hidden ? '' : `Page ${this.#before.length + 1}`);
    return true;
  }

  /** @param {Place | undefined} place */
  #show(place) {
    this.#place = place;
    this.#next = undefined;
    this.#turn += 1;
  }
}

/** Rows are recreated only when their content has changed, so the others keep their focus and open details. */
export class Rows {
  /** @type {Map<unknown, { shown: string, element: HTMLElement }>} */
  #rows = new Map();

  /** @param {HTMLElement} list @param {string} none is shown where there is no row */
  constructor(list, none) {
    this.list = list;
    this.none = none;
    this.note = el('p.note', { role: 'status' }, 'Loading…');
  }

  /** @param {readonly any[]} items each with its `id` @param {(item: any) => HTMLElement} make @param {string} [none] */
  show(items, make, none = this.none) {
    const before = this.#rows;
    this.#rows = new Map();
    const focused = document.activeElement?.getAttribute('data-action');
    for (const item of items) {
      const shown = JSON.stringify(item);
      const id = item.id ?? shown;
      const old = before.get(id);
      this.#rows.set(id, old?.shown === shown ? old : { shown, element: make(item) });
    }
    const elements = [...this.#rows.values()].map(({ element }) => element);
    const gone = [...this.list.children].filter((child) => !elements.some((element) => element === child));
    for (const child of gone) child.remove();
    // One that stays in its place is not moved, which would take its focus.
    let at = this.list.firstElementChild;
    for (const element of elements)
      if (element === at) at = at.nextElementSibling;
      else this.list.insertBefore(element, at);
    say(this.note, elements.length === 0 ? none : '');
    const again = focused && this.list.querySelector(`[data-action="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** Whether something in a row is open, or has the focus. @param {unknown} id */
  isRead(id) {
    const element = this.#rows.get(id)?.element;
    return Boolean(element?.querySelector('details[open]') || element?.contains(document.activeElement));
  }
}

/** A list by its path: asked for, shown in rows, and turned page by page. */
export class PagedList {
  /** @type {any[]} */
  #shown = [];
  #turnShown = -1;

  /**
   * @param {string} path
   * @param {(item: any) => HTMLElement} row
   * @param {{ list: HTMLElement, none: string, changed: () => void, query?: () => Record<string, any>, keepsRead?: boolean }} how
   *   `changed` is called when another page is wanted; with `keepsRead` a row that is being read stays when newer ones push it off the page
   */
  constructor(path, row, { list, none, changed, query = () => ({}), keepsRead = false }) {
    this.path = path;
    this.row = row;
    this.query = query;
    this.changed = changed;
    this.keepsRead = keepsRead;
    /** @type {Pages<string>} */
    this.pages = new Pages(changed);
    this.rows = new Rows(list, none);
    /** How many the whole list has, where the service counts them. */
    this.count = el('p.note', { role: 'status' });
    this.parts = [this.rows.note, list, this.pages.bar];
  }

  /** Asks for the first page, after what is looked for has changed. */
  restart() {
    this.pages.reset();
    this.changed();
  }

  /** Fetches the wanted page and shows it; returns its items. @param {AbortSignal} signal @param {string} [none] @returns {Promise<readonly any[]>} */
  async refresh(signal, none) {
    const { place: cursor, turn } = this.pages.wanted;
    const { body, next, total } = await ask('GET', this.path, {
      query: { limit: 25, ...this.query(), cursor },
      signal,
    });
    /** @type {Set<unknown>} */
    const page = new Set(body.map((/** @type {any} */ { id }) => id));
    if (!this.pages.arrived(turn, next)) return this.#shown;
    // Of none, the rows say so.
    if (total !== undefined) say(this.count, total === 0 ? '' : `${number(total)} in all`);
    const last =
      this.keepsRead && turn === this.#turnShown
        ? this.#shown.findLastIndex(({ id }) => this.rows.isRead(id))
        : -1;
    const kept = this.#shown.slice(0, last + 1).filter(({ id }) => !page.has(id));
    this.#shown = [...body, ...kept];
    this.#turnShown = turn;
    this.rows.show(this.#shown, this.row, none);
    return this.#shown;
  }
}
