// @ts-check
// Makes elements. A text becomes a text node, never markup: names of clients are whatever somebody called them.

/** @typedef {Node | string | number | null | undefined | boolean} Child */
/** @typedef {string | number | boolean | null | undefined | ((event: any) => void)} Attribute */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An element with attributes and children. A function is listened to (`onclick`), true is an attribute without a value, false and
 * null are none.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Attribute>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The same of SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, Attribute>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} element
 * @param {Record<string, Attribute>} attributes
 * @param {(Child | Child[])[]} children
 * @returns {Made}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  element.append(...nodesOf(children.flat()));
  return element;
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodesOf(children) {
  return children
    .filter((child) => child !== null && child !== undefined && typeof child !== 'boolean')
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Puts children in the place of those that an element has.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function put(element, ...children) {
  element.replaceChildren(...nodesOf(children.flat()));
}

/**
 * Gives a list these elements in this order. One that stays is not moved: it keeps the focus, and what is open in it.
 * @param {Element} list
 * @param {readonly Element[]} elements
 */
export function arrange(list, elements) {
  const wanted = new Set(elements);
  const gone = [...list.children].filter((child) => !wanted.has(child));
  for (const child of gone) child.remove();
  let at = list.firstElementChild;
  for (const element of elements) {
    if (element === at) at = at.nextElementSibling;
    else list.insertBefore(element, at);
  }
}

/** A list whose rows are made anew only when what they show has changed: in the others the focus stays, and what is open. */
export class Rows {
  /** What is shown of each item. @type {Map<unknown, { shown: string, element: HTMLElement }>} */
  #rows = new Map();

  /** @param {HTMLElement} list @param {HTMLElement} [none] is shown where there is nothing */
  constructor(list, none) {
    this.list = list;
    this.none = none;
  }

  /**
   * @template {{ id: unknown }} Item
   * @param {readonly Item[]} items
   * @param {(item: Item) => HTMLElement} make
   */
  show(items, make) {
    const before = this.#rows;
    this.#rows = new Map();
    const focused = document.activeElement?.getAttribute('data-action');
    for (const item of items) {
      const shown = JSON.stringify(item);
      const old = before.get(item.id);
      this.#rows.set(item.id, old?.shown === shown ? old : { shown, element: make(item) });
    }
    const elements = [...this.#rows.values()].map(({ element }) => element);
    arrange(this.list, elements.length === 0 && this.none ? [this.none] : elements);
    const again = focused && this.list.querySelector(`[data-action="${CSS.escape(focused)}"]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** Whether somebody reads a row: something in it is open, or has the focus. @param {unknown} id */
  isRead(id) {
    const element = this.#rows.get(id)?.element;
    return Boolean(element?.querySelector('details[open]') || element?.contains(document.activeElement));
  }
}

/**
 * Sets the text of an element, if it has another one: what did not change is not read out again.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * A text that others wrote, isolated, so that its direction and its length change nothing around it.
 * @param {string} text
 */
export function written(text) {
  return el('bdi', { class: 'written' }, text);
}

const NUMBER = new Intl.NumberFormat('en');

/** @param {number | bigint} value */
export function number(value) {
  return NUMBER.format(value);
}

/**
 * An element of the page by its id. Throws where index.html has none.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}.`);
  return found;
}

/**
 * Tells what was done: shown for a while, and read out.
 * @param {string} text
 */
export function tell(text) {
  const said = byId('said');
  const note = el('p', {}, text);
  put(said, note);
  setTimeout(() => note.remove(), 6_000);
}
