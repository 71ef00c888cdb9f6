// @ts-check
// One page of a list at a time, however long the list is: forwards by what the page on show says, backwards by what was seen.
import { el, say } from './elements.js';

/** Where a page begins is whatever its list makes of it, such as a cursor. @template Place */
export class Pages {
  /** Where the pages before this one begin; undefined is the first. @type {(Place | undefined)[]} */
  #before = [];
  /** @type {Place | undefined} */
  #place;
  /** @type {Place | undefined} */
  #next;
  #turn = 0;

  /** @param {() => void} turned is called when another page is to be shown */
  constructor(turned) {
    this.turned = turned;
    this.back = el(
      'button',
      { type: 'button', class: 'quiet', onclick: () => this.#turnBack() },
      '← Previous',
    );
    this.forth = el('button', { type: 'button', class: 'quiet', onclick: () => this.#turnForth() }, 'Next →');
    this.where = el('span', { class: 'page-number', 'aria-live': 'polite' });
    this.bar = el(
      'nav',
      { class: 'pages', 'aria-label': 'Pages', hidden: true },
      this.back,
      this.where,
      this.forth,
    );
  }

  /** The page that is wanted: where it begins, undefined for the first, and the turn that `arrived` wants back. */
  get wanted() {
    return { place: this.#place, turn: this.#turn };
  }

  /** Begins at the first page again. */
  reset() {
    this.#before = [];
    this.#show(undefined);
  }

  /**
   * Learns where the page after the one that has come begins. Answers false when another page is wanted by now: what has come is
   * not to be shown.
   * @param {number} turn
   * @param {Place | undefined} next
   */
  arrived(turn, next) {
    if (turn !== this.#turn) return false;
    this.#next = next;
    this.back.disabled = this.#before.length === 0;
    this.forth.disabled = next === undefined;
    this.bar.hidden = this.#before.length === 0 && next === undefined;
    say(this.where, this.bar.hidden ? '' : `Page ${this.#before.length + 1}`);
    return true;
  }

  #turnForth() {
    // Unknown until the page has come: a second click turns nothing.
    if (this.#next === undefined) return;
    this.#before.push(this.#place);
    this.#show(this.#next);
    this.turned();
  }

  #turnBack() {
    if (this.#before.length === 0) return;
    this.#show(this.#before.pop());
    this.turned();
  }

  /** @param {Place | undefined} place */
  #show(place) {
    this.#place = place;
    this.#next = undefined;
    this.#turn += 1;
  }
}
