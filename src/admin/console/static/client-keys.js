// @ts-check
// The keys of a client, with their states and what can be done with each.
import { Refusal, ask, isHolder } from './admin-api.js';
import { issue, revoke, rotate, unban } from './changes-of-key.js';
import { alone } from './dialogs.js';
import { Rows, el } from './elements.js';
import { Pages } from './paging.js';
import { ago, exactly, now, when } from './times.js';

/** @typedef {import('./changes-of-key.js').Key} Key */

/** Keys of a page that is shown. */
const SHOWN = 20;
/** Keys that are asked for at once, as many as a page of the service may have. */
const ASKED = 100;
/** How many banned keys that are not on the page are asked for one by one, and how long what is known of them holds. */
const ALONE = { most: 5, knownMs: 60_000 };
/** A key that ends within this time is about to, in milliseconds. */
const SOON_MS = 7 * 86_400_000;

/**
 * @typedef {object} State
 * @property {string} name
 * @property {'good' | 'warn' | 'bad' | 'over'} tone
 * @property {boolean} ended
 */

/** What a key can do now. @param {Key} key @param {string | undefined} bannedUntil @returns {State} */
export function stateOf({ revokedAt, expiresAt, replacedBy }, bannedUntil) {
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now();
  if (revokedAt !== null)
    return { name: replacedBy === null ? 'Revoked' : 'Rotated, ended', tone: 'over', ended: true };
  if (left <= 0)
    return { name: replacedBy === null ? 'Expired' : 'Rotated, ended', tone: 'over', ended: true };
  if (bannedUntil !== undefined)
    return { name: `Banned, ends ${ago(bannedUntil)}`, tone: 'bad', ended: false };
  if (replacedBy !== null)
    return { name: `Rotated, ends ${ago(expiresAt ?? '')}`, tone: 'warn', ended: false };
  if (left < SOON_MS) return { name: `Ends ${ago(expiresAt ?? '')}`, tone: 'warn', ended: false };
  return { name: 'Active', tone: 'good', ended: false };
}

/**
 * Where a page of the keys begins: so many before the newest of a part of the list. The service lists the oldest first, in parts.
 * @typedef {{ part: number, skipped: number }} Place
 */

export class ClientKeys {
  /** @type {any} */
  #client;
  /** Cursors of the parts that are known, the oldest first. @type {(string | undefined)[]} */
  #parts = [undefined];
  /** Banned keys of other pages, and when they were asked for. @type {Map<string, { key: Key, at: number }>} */
  #banned = new Map();

  /** @param {string} clientId @param {() => void} changed is called after a change, and when another page is wanted */
  constructor(clientId, changed) {
    this.clientId = clientId;
    this.changed = changed;
    /** @type {Pages<Place>} */
    this.pages = new Pages(changed);
    this.rows = new Rows(
      el('ul', { class: 'keys' }),
      el('li', { class: 'empty' }, 'No key yet. Issue one, and give it to the client.'),
    );
    const start = this.#order(() => issue(this.#client), true);
    // Until the client is known there is nobody to issue a key to.
    this.issueButton = el(
      'button',
      { type: 'button', class: 'primary changes', disabled: true, onclick: () => void start() },
      'Issue a key',
    );
    this.element = el(
      'section',
      { class: 'card', 'aria-labelledby': 'keys-title' },
      el('div', { class: 'card-head' }, el('h2', { id: 'keys-title' }, 'Keys'), this.issueButton),
      this.rows.list,
      this.pages.bar,
    );
  }

  /** Shows the keys as they are now, the newest first behind those that are banned. @param {any} client with its bans @param {AbortSignal} signal */
  async refresh(client, signal) {
    const { place, turn } = this.pages.wanted;
    const { part, keys } = await this.#part(place?.part, signal);
    /** @type {Map<string, string>} */
    const bans = new Map(client.bans.map((/** @type {any} */ ban) => [ban.keyId, ban.bannedUntil]));
    const banned = await this.#bannedOf([...bans.keys()], keys, signal);
    const skipped = (place?.skipped ?? 0) + SHOWN;
    const next =
      skipped < keys.length ? { part, skipped } : part > 0 ? { part: part - 1, skipped: 0 } : undefined;
    if (!this.pages.arrived(turn, next)) return;
    this.#client = client;
    this.issueButton.disabled = false;
    const page = keys.slice(skipped - SHOWN, skipped).filter(({ id }) => !bans.has(id));
    const items = [...banned, ...page].map((key) => {
      const ban = bans.get(key.id);
      return { id: key.id, key, ban, state: stateOf(key, ban) };
    });
    this.rows.show(items, (item) => this.#row(item));
  }

  /**
   * A part of the list, its newest key first; without a number the part with the newest keys of all.
   * @param {number | undefined} wanted
   * @param {AbortSignal} signal
   * @returns {Promise<{ part: number, keys: Key[] }>}
   */
  async #part(wanted, signal) {
    const part = wanted ?? this.#parts.length - 1;
    const query = { client: isHolder ? undefined : this.clientId, limit: ASKED, cursor: this.#parts[part] };
    const { body, next } = await ask('GET', 'keys', { query, signal });
    if (wanted !== undefined || next === undefined) return { part, keys: body.toReversed() };
    this.#parts.push(next);
    return this.#part(undefined, signal);
  }

  /**
   * The banned keys, of which those that are not at hand are asked for, a few at a time.
   * @param {string[]} ids
   * @param {Key[]} atHand
   * @param {AbortSignal} signal
   * @returns {Promise<Key[]>}
   */
  async #bannedOf(ids, atHand, signal) {
    let asked = 0;
    for (const id of ids) {
      const found = atHand.find((key) => key.id === id);
      if (found) this.#banned.set(id, { key: found, at: performance.now() });
      const at = this.#banned.get(id)?.at ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - at < ALONE.knownMs || asked === ALONE.most) continue;
      asked += 1;
      try {
        const { body } = await ask('GET', `keys/${id}`, { signal });
        this.#banned.set(id, { key: body, at: performance.now() });
      } catch (error) {
        if (!(error instanceof Refusal) || !error.is('key_not_found')) throw error;
      }
    }
    return ids.flatMap((id) => this.#banned.get(id)?.key ?? []);
  }

  /** @param {{ key: Key, ban: string | undefined, state: State }} row */
  #row({ key, ban, state }) {
    const { id, prefix, label, scopes, createdAt, expiresAt, lastUsedAt, replacedBy, revokedAt } = key;
    const action = (
      /** @type {string} */ name,
      /** @type {string} */ text,
      /** @type {() => Promise<unknown>} */ run,
      quiet = 'quiet',
    ) => {
      const change = this.#order(run, name === 'rotate');
      return el(
        'button',
        {
          type: 'button',
          class: `${quiet} changes`,
          'data-action': `${name} ${id}`,
          'aria-label': `${text} ${prefix}`,
          onclick: () => void change(),
        },
        text,
      );
    };
    return el(
      'li',
      { class: state.ended ? 'key ended' : 'key' },
      el(
        'div',
        { class: 'key-head' },
        el('code', { class: 'prefix' }, `${prefix}…`),
        label !== null && el('bdi', { class: 'label' }, label),
        el('span', { class: `badge ${state.tone}` }, state.name),
      ),
      el(
        'dl',
        { class: 'facts' },
        fact(
          'Scopes',
          el(
            'span',
            { class: 'scopes' },
            scopes.map((scope) => el('code', {}, scope)),
          ),
        ),
        fact('Last used', lastUsedAt === null ? 'never' : when(lastUsedAt)),
        fact('Issued', when(createdAt)),
        revokedAt !== null
          ? fact('Revoked', when(revokedAt))
          : fact('Ends', expiresAt === null ? 'never' : when(expiresAt)),
        ban !== undefined && fact('Banned until', exactly(ban)),
      ),
      // Operators alone change keys that administer.
      !state.ended &&
        !(isHolder && scopes.some((scope) => /^admin(?::|$)/.test(scope))) &&
        el(
          'div',
          { class: 'row-actions' },
          ban !== undefined && !isHolder && action('unban', 'Lift the ban', () => unban(key, ban)),
          replacedBy === null && action('rotate', 'Rotate', () => rotate(key)),
          action('revoke', 'Revoke', () => revoke(key), 'quiet danger-text'),
        ),
    );
  }

  /**
   * An order of the operator, after which all is asked anew.
   * @param {() => Promise<unknown>} run
   * @param {boolean} makesKey whether a new key follows, which is on the first page
   */
  #order(run, makesKey) {
    return alone(async () => {
      if (!(await run())) return;
      if (makesKey) this.pages.reset();
      this.#banned.clear();
      this.changed();
    });
  }
}

/** @param {string} name @param {Node | string} value */
export function fact(name, value) {
  return el('div', {}, el('dt', {}, name), el('dd', {}, value));
}
