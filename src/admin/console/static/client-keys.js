// @ts-check
// The keys of a client with their states and actions.
import { Refusal, isHolder, request } from './admin-api.js';
import { UUID, inAddress } from './address.js';
import { administers, issue, revoke, rotate, unban } from './changes.js';
import { button } from './controls.js';
import { el } from './elements.js';
import { Pages, Rows } from './lists.js';
import { card, codes, facts } from './sections.js';
import { ago, exactly, now, when } from './times.js';

/** @typedef {import('./changes.js').Key} Key */

/** Number of keys per page. */
const SHOWN = 20;
/** Number of keys per request: the service's maximum. */
const PART_SIZE = 100;
/**
 * Keys that are shown first but are not on the page are requested one by one: the maximum number per refresh, and how long a response is
 * reused.
 */
const SINGLE_REQUESTS = { max: 5, maxAgeMs: 60_000 };
/** Keys that expire within this time are marked, in milliseconds. */
const SOON_MS = 7 * 86_400_000;
const IS_ID = new RegExp(`^${UUID}$`);

/** The state of a key in words, and the class of its badge. @param {Key} key @param {string | undefined} bannedUntil */
function stateOf({ revokedAt, expiresAt, replacedBy }, bannedUntil) {
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now();
  if (revokedAt !== null || left <= 0)
    return [replacedBy !== null ? 'Rotated, expired' : revokedAt !== null ? 'Revoked' : 'Expired', 'over'];
  if (bannedUntil !== undefined) return [`Ban ends ${ago(bannedUntil)}`, 'bad'];
  if (replacedBy !== null) return [`Rotated, expires ${ago(expiresAt ?? '')}`, 'warn'];
  return left < SOON_MS ? [`Expires ${ago(expiresAt ?? '')}`, 'warn'] : ['Active', 'good'];
}

/**
 * Where a page of keys starts: `part.skipped` means after this many of the newest keys in a part of the list. The service returns the list
 * in parts, oldest first.
 */
const CURSOR = /^(\d{1,6})\.(\d{1,3})$/;

export class ClientKeys {
  /** @type {any} */
  #client;
  /** Cursors of the known parts, oldest first. @type {(string | undefined)[]} */
  #parts = [undefined];
  /** Keys of other pages that are shown first, and when they were requested. @type {Map<string, { key: Key, at: number }>} */
  #known = new Map();

  /** @param {string} clientId @param {() => void} changed called after a change, and when another page is requested */
  constructor(clientId, changed) {
    this.clientId = clientId;
    this.changed = changed;
    this.pages = new Pages(changed, 'keys');
    this.rows = new Rows(el('ul.keys'), 'No key yet. Issue one, and give it to the client.');
    // Disabled until the client has been loaded.
    this.issueButton = button(
      'Issue a key',
      () => this.#change(() => issue(this.#client), true),
      '.primary.changes',
      { disabled: true },
    );
    this.element = card('Keys', this.issueButton, this.rows.note, this.rows.list, this.pages.bar);
  }

  /**
   * Shows the current keys: first the key that was searched for and banned keys, then all others, newest first.
   * @param {any} client with its bans
   * @param {AbortSignal} signal
   */
  async refresh(client, signal) {
    const { cursor, version } = this.pages.wanted;
    const [, wanted, before] = CURSOR.exec(cursor ?? '') ?? [];
    const { part, keys } = await this.#part(wanted === undefined ? undefined : Number(wanted), signal);
    /** @type {Map<string, string>} */
    const bans = new Map(client.bans.map((/** @type {any} */ ban) => [ban.keyId, ban.bannedUntil]));
    // The address contains the key found by a search, or any other text.
    const ids = [...new Set([inAddress('key'), ...bans.keys()])].filter((id) => IS_ID.test(id));
    const first = await this.#firstOf(ids, keys, signal);
    const skipped = Number(before ?? 0) + SHOWN;
    const next = skipped < keys.length ? `${part}.${skipped}` : part > 0 ? `${part - 1}.0` : undefined;
    if (!this.pages.arrived(version, next)) return;
    this.#client = client;
    this.issueButton.disabled = false;
    const page = keys.slice(skipped - SHOWN, skipped).filter(({ id }) => !ids.includes(id));
    const items = [...first, ...page].map((key) => {
      const ban = bans.get(key.id);
      return { id: key.id, key, ban, state: stateOf(key, ban) };
    });
    this.rows.show(items, (item) => this.#row(item));
  }

  /**
   * A part of the list, newest key first; without a number, the part with the newest keys.
   * @param {number | undefined} wanted
   * @param {AbortSignal} signal
   * @returns {Promise<{ part: number, keys: Key[] }>}
   */
  async #part(wanted, signal) {
    const last = this.#parts.length - 1;
    // An unknown part is reached from the last known one.
    const part = Math.min(wanted ?? last, last);
    const query = {
      client: isHolder ? undefined : this.clientId,
      limit: PART_SIZE,
      cursor: this.#parts[part],
    };
    const { body, next } = await request('GET', 'keys', { query, signal });
    if (part === wanted || next === undefined) return { part, keys: body.toReversed() };
    this.#parts.push(next);
    return this.#part(wanted, signal);
  }

  /**
   * The keys that are shown first. Those that are not loaded are requested, a few at a time.
   * @param {string[]} ids
   * @param {Key[]} atHand
   * @param {AbortSignal} signal
   * @returns {Promise<Key[]>}
   */
  async #firstOf(ids, atHand, signal) {
    let requested = 0;
    for (const id of ids) {
      const found = atHand.find((key) => key.id === id);
      if (found) this.#known.set(id, { key: found, at: performance.now() });
      const at = this.#known.get(id)?.at ?? Number.NEGATIVE_INFINITY;
      if (performance.now() - at < SINGLE_REQUESTS.maxAgeMs || requested === SINGLE_REQUESTS.max) continue;
      requested += 1;
      try {
        const { body } = await request('GET', `keys/${id}`, { signal });
        if (isHolder || body.clientId === this.clientId)
          this.#known.set(id, { key: body, at: performance.now() });
      } catch (error) {
        if (!(error instanceof Refusal) || !error.is('key_not_found')) throw error;
      }
    }
    return ids.flatMap((id) => this.#known.get(id)?.key ?? []);
  }

  /** @param {{ key: Key, ban: string | undefined, state: string[] }} row */
  #row({ key, ban, state: [name, tone] }) {
    const { id, prefix, label, scopes, createdAt, expiresAt, lastUsedAt, replacedBy, revokedAt } = key;
    const hasEnded = tone === 'over';
    const action = (/** @type {string} */ text, /** @type {() => Promise<unknown>} */ run, classes = '') =>
      button(text, () => this.#change(run, text === 'Rotate'), `.quiet.changes${classes}`, {
        'data-action': `${text} ${id}`,
        'aria-label': `${text} ${prefix}`,
      });
    return el(
      hasEnded ? 'li.key.ended' : 'li.key',
      el(
        'div.key-head',
        el('code.prefix', `${prefix}…`),
        label !== null && el('bdi.label', label),
        el(`span.badge.${tone}`, name),
        !hasEnded && scopes.some(administers) && el('span.badge.warn', 'Administers'),
      ),
      facts([
        ['Scopes', codes(scopes)],
        ['Last used', when(lastUsedAt)],
        ['Created', when(createdAt)],
        revokedAt !== null ? ['Revoked', when(revokedAt)] : ['Expires', when(expiresAt)],
        ban !== undefined && ['Banned until', exactly(ban)],
      ]),
      // Only operators can change keys with an administrative scope.
      !hasEnded &&
        !(isHolder && scopes.some(administers)) &&
        el(
          'div.row-actions',
          ban !== undefined && !isHolder && action('Lift the ban', () => unban(key, ban)),
          replacedBy === null && action('Rotate', () => rotate(key)),
          action('Revoke', () => revoke(key), '.danger-text'),
        ),
    );
  }

  /** Makes a change, and reloads everything. @param {() => Promise<unknown>} run @param {boolean} createsKey that is on the first page */
  async #change(run, createsKey) {
    if (!(await run())) return;
    if (createsKey) this.pages.reset();
    this.#known.clear();
    this.changed();
  }
}
