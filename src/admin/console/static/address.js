// @ts-check
// The address behind the hash: a path that names the view, and a query with its filters, so that a filtered view can be shared.

/** Pause after the last letter before a search, in milliseconds. */
const TYPING_MS = 250;

/** The pattern of an id in an address. */
export const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/** The path of the current address, such as `#/clients`. */
export function pathOf() {
  return location.hash.split('?', 1)[0] ?? '';
}

/** A filter in the current address; empty without it. @param {string} name */
export function inAddress(name) {
  return new URLSearchParams(location.hash.split('?')[1]).get(name) ?? '';
}

/** An address with filters. @param {string} path @param {Record<string, string>} filters */
export function addressOf(path, filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** The current address with another value of one filter. @param {string} name @param {string} value empty without it */
export function addressWith(name, value) {
  const query = Object.fromEntries(new URLSearchParams(location.hash.split('?')[1]));
  return addressOf(pathOf() || '#/', { ...query, [name]: value });
}

/** Filters of a list, stored in the address: the values of controls, and filters without a control. */
export class Filters {
  /**
   * @param {Record<string, Control>} controls by the name of the filter
   * @param {() => void} changed called when the filters change
   * @param {readonly string[]} [others] filters without a control
   */
  constructor(controls, changed, others = []) {
    this.controls = controls;
    this.others = others.map((name) => /** @type {const} */ ([name, inAddress(name)]));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let typing;
    const path = pathOf();
    const found = () => {
      clearTimeout(typing);
      const address = addressOf(path, this.#values());
      // The view may have ended during the pause. After typing, a `change` event follows when the field loses the focus.
      if (pathOf() !== path || address === shown) return;
      shown = address;
      history.replaceState(null, '', address);
      changed();
    };
    for (const [name, control] of Object.entries(controls)) {
      control.value = inAddress(name);
      // An old address may contain a value that is no longer available.
      if (control instanceof HTMLSelectElement && control.selectedIndex === -1) control.selectedIndex = 0;
      control.addEventListener('change', found);
      control.addEventListener('input', () => {
        if (control instanceof HTMLSelectElement) return;
        clearTimeout(typing);
        typing = setTimeout(found, TYPING_MS);
      });
    }
    let shown = addressOf(path, this.#values());
  }

  /** The filters, as query parameters of a request. */
  get query() {
    return Object.fromEntries(
      Object.entries(this.#values()).map(([name, value]) => [name, value || undefined]),
    );
  }

  /** Whether any filter is set. */
  get isAny() {
    return Object.values(this.#values()).some((value) => value !== '');
  }

  /** @returns {Record<string, string>} */
  #values() {
    const chosen = Object.entries(this.controls).map(([name, { value }]) => [name, value.trim()]);
    return Object.fromEntries([...this.others, ...chosen]);
  }
}
