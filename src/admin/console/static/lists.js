// @ts-check
// Lists of any length, shown one page at a time.
import { Refusal, request } from './admin-api.js';
import { addressWith, inAddress } from './address.js';
import { button } from './controls.js';
import { el, number, setText } from './elements.js';

/**
 * Navigates between pages. The address contains the number and the cursor of the page, so that it is preserved when the user goes back or
 * forward or reloads. The entry in the browser's history contains the cursors of the previous pages.
 */
export class Pages {
  /** The cursors of the previous pages, except the first page, which has none; undefined if unknown, because the address was opened directly. @type {string[] | undefined} */
  #before;
  #number = 1;
  /** The cursor of this page; undefined for the first. @type {string | undefined} */
  #cursor;
  /** @type {string | undefined} */
  #next;
  #version = 0;

  /** @param {() => void} onChange called when another page is requested @param {string} name name of the page in the address */
  constructor(onChange, name) {
    this.name = name;
    const [, shown, cursor] = /^([1-9]\d{0,5})\.(.+)$/.exec(inAddress(name)) ?? [];
    this.#number = cursor === undefined ? 1 : Number(shown);
    this.#cursor = cursor;
    this.#before = cursor === undefined ? [] : history.state?.[name];
    this.previousButton = button('← Previous', () => {
      const before = this.#before?.slice(0, -1) ?? [];
      this.#show(this.#before?.at(-1), before, this.#before ? this.#number - 1 : 1);
      onChange();
    });
    this.nextButton = button('Next →', () => {
      // Unknown until the page is loaded, so a second click has no effect.
      if (this.#next === undefined) return;
      const before = this.#cursor === undefined ? [] : this.#before && [...this.#before, this.#cursor];
      this.#show(this.#next, before, this.#number + 1);
      onChange();
    });
    this.where = el('span', { 'aria-live': 'polite' });
    this.bar = el(
      'nav.pages',
      { 'aria-label': 'Pages', hidden: true },
      this.previousButton,
      this.where,
      this.nextButton,
    );
  }

  /** The requested page: its cursor (undefined for the first page), and the `version` to pass to `arrived`. */
  get wanted() {
    return { cursor: this.#cursor, version: this.#version };
  }

  /** Goes back to the first page. */
  reset() {
    this.#cursor = undefined;
    this.#before = [];
    this.#number = 1;
    this.#next = undefined;
    this.#version += 1;
    history.replaceState(history.state, '', addressWith(this.name, ''));
  }

  /** Stores the cursor of the next page. Returns false if another page has been requested in the meantime. @param {number} version @param {string | undefined} next */
  arrived(version, next) {
    if (version !== this.#version) return false;
    this.#next = next;
    const focused = document.activeElement;
    this.previousButton.disabled = this.#cursor === undefined;
    setText(this.previousButton, this.#before ? '← Previous' : '← First page');
    this.nextButton.disabled = next === undefined;
    this.bar.hidden = this.previousButton.disabled && this.nextButton.disabled;
    setText(this.where, this.bar.hidden ? '' : `Page ${this.#number}`);
    // A disabled button loses the focus.
    if (focused === this.nextButton && this.nextButton.disabled) this.previousButton.focus();
    if (focused === this.previousButton && this.previousButton.disabled) this.nextButton.focus();
    return true;
  }

  /** @param {string | undefined} cursor @param {string[] | undefined} before @param {number} at number of the page */
  #show(cursor, before, at) {
    this.#cursor = cursor;
    this.#before = before;
    this.#number = at;
    this.#next = undefined;
    this.#version += 1;
    const page = cursor === undefined ? '' : `${at}.${cursor}`;
    history.pushState({ ...history.state, [this.name]: before }, '', addressWith(this.name, page));
  }
}

/** Rows are recreated only when their content has changed, so the others keep their focus and open details. */
export class Rows {
  /** @type {Map<unknown, { shown: string, element: HTMLElement }>} */
  #rows = new Map();

  /** @param {HTMLElement} list @param {string} none the text shown if there are no rows */
  constructor(list, none) {
    this.list = list;
    this.none = none;
    this.note = el('p.note', { role: 'status' }, 'Loading…');
  }

  /** @param {readonly any[]} items each with its `id` @param {(item: any) => HTMLElement} createRow @param {string} [none] */
  show(items, createRow, none = this.none) {
    const before = this.#rows;
    this.#rows = new Map();
    const focused = document.activeElement;
    const [left] = [...before].find(([, { element }]) => element.contains(focused)) ?? [];
    for (const item of items) {
      const shown = JSON.stringify(item);
      const id = item.id ?? shown;
      const old = before.get(id);
      this.#rows.set(id, old?.shown === shown ? old : { shown, element: createRow(item) });
    }
    const elements = [...this.#rows.values()].map(({ element }) => element);
    const removed = [...this.list.children].filter((child) => !elements.some((element) => element === child));
    for (const child of removed) child.remove();
    // Elements in the right place are not moved, because they would lose the focus.
    let at = this.list.firstElementChild;
    for (const element of elements)
      if (element === at) at = at.nextElementSibling;
      else this.list.insertBefore(element, at);
    setText(this.note, elements.length === 0 ? none : '');
    if (left === undefined || this.list.contains(document.activeElement)) return;
    // The change may have removed the button, or the row itself.
    const action = CSS.escape(focused?.getAttribute('data-action') ?? '');
    const again = this.list.querySelector(`[data-action="${action}"]`);
    const fallback = this.#rows.get(left)?.element ?? this.list;
    fallback.tabIndex = -1;
    (again instanceof HTMLElement ? again : fallback).focus({ preventScroll: true });
  }

  /** Whether details in a row are open, or something in it has the focus. @param {unknown} id */
  isRead(id) {
    const element = this.#rows.get(id)?.element;
    return Boolean(element?.querySelector('details[open]') || element?.contains(document.activeElement));
  }
}

/** Requests the list at a path, shows its entries in rows, and navigates between its pages. */
export class PagedList {
  /** @type {any[]} */
  #shown = [];
  #versionShown = -1;

  /**
   * @param {string} path
   * @param {(item: any) => HTMLElement} row
   * @param {{ list: HTMLElement, none: string, changed: () => void, query?: () => Record<string, any>, page?: string, keepsRead?: boolean
   *   }} how `changed` is called when another page is requested; `page` is the name of the page in the address; with `keepsRead`, a row
   *   that is being read stays even if newer ones push it off the page
   */
  constructor(path, row, { list, none, changed, query = () => ({}), page = 'page', keepsRead = false }) {
    this.path = path;
    this.row = row;
    this.query = query;
    this.changed = changed;
    this.keepsRead = keepsRead;
    this.pages = new Pages(changed, page);
    this.rows = new Rows(list, none);
    /** The number of entries in the whole list, if the service counts them. */
    this.count = el('p.note', { role: 'status' });
    this.parts = [this.rows.note, list, this.pages.bar];
  }

  /** Requests the first page after the filters have changed. */
  restart() {
    this.pages.reset();
    this.changed();
  }

  /** Fetches and shows the requested page; returns its items. @param {AbortSignal} signal @param {string} [none] @returns {Promise<readonly any[]>} */
  async refresh(signal, none) {
    const { cursor, version } = this.pages.wanted;
    const query = { limit: 25, ...this.query(), cursor };
    const response = await request('GET', this.path, { query, signal }).catch((error) => {
      // The address was edited, or comes from another version.
      if (!(error instanceof Refusal) || !error.details.some(({ field }) => field === 'cursor')) throw error;
      this.pages.reset();
    });
    if (!response) return this.refresh(signal, none);
    const { body, next, total } = response;
    /** @type {Set<unknown>} */
    const page = new Set(body.map((/** @type {any} */ { id }) => id));
    if (!this.pages.arrived(version, next)) return this.#shown;
    // For an empty list, the rows contain the text.
    if (total !== undefined) setText(this.count, total === 0 ? '' : `${number(total)} in all`);
    const last =
      this.keepsRead && version === this.#versionShown
        ? this.#shown.findLastIndex(({ id }) => this.rows.isRead(id))
        : -1;
    const pinned = this.#shown.slice(0, last + 1).filter(({ id }) => !page.has(id));
    this.#shown = [...body, ...pinned];
    this.#versionShown = version;
    this.rows.show(this.#shown, this.row, none);
    return this.#shown;
  }
}
