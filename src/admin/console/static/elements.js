// @ts-check
// Creates elements. Text becomes a text node, never markup, because names of clients are untrusted.

/** @typedef {Node | string | number | null | undefined | boolean} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * Creates an element with a tag and classes (`p.note`), attributes and children. An attribute is a listener if its value is a function
 * (`onclick`), has no value if it is true, and is omitted if it is false or null.
 * @template {string} Name
 * @param {Name} name
 * @param {...(Attributes | Child | Child[])} parts
 * @returns {Name extends `${infer Tag extends keyof HTMLElementTagNameMap}.${string}` ? HTMLElementTagNameMap[Tag] : Name extends keyof
 *   HTMLElementTagNameMap ? HTMLElementTagNameMap[Name] : HTMLElement}
 */
export function el(name, ...parts) {
  const [tag = '', ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(' ');
  return /** @type {any} */ (fill(element, parts));
}

/** The same for SVG. @param {string} tag @param {...(Attributes | Child | Child[])} parts */
export function svg(tag, ...parts) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), parts);
}

/** @template {Element} Made @param {Made} element @param {(Attributes | Child | Child[])[]} parts */
function fill(element, parts) {
  for (const part of parts) {
    if (!isAttributes(part)) element.append(...nodesOf([part].flat()));
    else
      for (const [name, value] of Object.entries(part))
        if (typeof value === 'function') element.addEventListener(name.slice(2), value);
        else if (value !== false && value !== null && value !== undefined)
          element.setAttribute(name, value === true ? '' : String(value));
  }
  return element;
}

/** @param {Attributes | Child | Child[]} part @returns {part is Attributes} */
function isAttributes(part) {
  return typeof part === 'object' && part !== null && !(part instanceof Node) && !Array.isArray(part);
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodesOf(children) {
  return children
    .filter((child) => child !== null && child !== undefined && typeof child !== 'boolean')
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** The elements that the keyboard can focus. */
const STOPS = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

/**
 * Replaces the children of an element. A focused link keeps the focus; any other focused element passes it to its replacement.
 * @param {Element} element @param {...(Child | Child[])} children
 */
export function replaceContent(element, ...children) {
  const stopsOf = () => /** @type {HTMLElement[]} */ ([...element.querySelectorAll(STOPS)]);
  const at = stopsOf().findIndex((stop) => stop === document.activeElement);
  const href = document.activeElement?.getAttribute('href');
  element.replaceChildren(...nodesOf(children.flat()));
  if (at === -1) return;
  const stops = stopsOf();
  const same = href ? stops.find((stop) => stop.getAttribute('href') === href) : undefined;
  (same ?? stops[at])?.focus({ preventScroll: true });
}

/** Sets the text of an element only if it changes, so that screen readers announce only changes. @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Text written by others, isolated so that its direction does not affect the surrounding text. @param {string} text */
export function written(text) {
  return el('bdi.written', text);
}

/** An id, linked to a view if `href` is given. @param {string | null} id @param {string} [href] */
export function idOf(id, href) {
  const text = id === null ? '–' : el('code.id', id);
  return href === undefined ? text : el('a', { href }, text);
}

const NUMBER = new Intl.NumberFormat('en');

/** @param {number | bigint} value */
export function number(value) {
  return NUMBER.format(value);
}

/** An element of index.html. @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}.`);
  return found;
}

/** Shows a temporary message, which screen readers announce. @param {string} text */
export function notify(text) {
  const note = el('p', text);
  replaceContent(byId('messages'), note);
  setTimeout(() => note.remove(), 6_000);
}
