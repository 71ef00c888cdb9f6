// @ts-check
// Bar charts of admitted and refused requests over time, with the limit as a line, and the same numbers as a table for people who cannot
// see the chart.
import { el, number, replaceContent, setText, svg } from './elements.js';
import { Table, card } from './sections.js';

const HEIGHT = 170;
const ROOM = { left: 44, right: 8, top: 14, bottom: 24 };
/** A limit this many times above the largest value would make the bars invisible, so it is shown as text instead. */
const FAR_ABOVE = 8;

/**
 * @typedef {object} Bar
 * @property {string} label
 * @property {number} value admitted requests
 * @property {number} refused
 */

export class Plot {
  /** @type {readonly Bar[]} */
  #bars = [];
  #limit = 0;
  #shown = '';
  /** The bar whose values are shown. @type {number | undefined} */
  #picked;

  /** @param {string} title @param {string} note @param {string} unit title of the first column of the table @param {HTMLElement} [tools] */
  constructor(title, note, unit, tools) {
    this.drawing = el('div.drawing', {
      tabindex: '0',
      role: 'slider',
      'aria-label': `${title}: use the arrow keys`,
      onpointermove: (/** @type {PointerEvent} */ { clientX }) => this.#pickAt(clientX),
      onpointerleave: () => this.#pick(undefined),
      onfocus: () => this.#pick(this.#picked ?? this.#bars.length - 1),
      onblur: () => this.#pick(undefined),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#moveWithKey(event),
    });
    this.readout = el('p.readout');
    this.summary = el('p.note');
    this.table = new Table(`${title}, as a table`, [unit, 'Admitted', 'Refused']);
    const details = el('details', el('summary', 'Show as a table'), this.table.element);
    this.element = card(title, tools, el('p.note', note), this.drawing, this.readout, this.summary, details);
    this.element.classList.add('plot');
    new ResizeObserver(() => this.#draw()).observe(this.drawing);
  }

  /** @param {readonly Bar[]} bars oldest first @param {number} limit of each */
  show(bars, limit) {
    const shown = JSON.stringify([bars, limit]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#bars = bars;
    this.#limit = limit;
    const max = Math.max(0, ...bars.map(({ value }) => value));
    const total = bars.reduce((sum, { value }) => sum + value, 0);
    const refusedTotal = bars.reduce((sum, { refused }) => sum + refused, 0);
    replaceContent(
      this.summary,
      el('span.swatch'),
      `${number(total)} admitted (peak ${number(max)}, current limit ${number(limit)}), `,
      el('span.swatch.refused'),
      `${number(refusedTotal)} refused.`,
    );
    this.table.show(
      bars.toReversed().map(({ label, value, refused }) => [label, number(value), number(refused)]),
    );
    this.#draw();
  }

  /** Shows the values of a bar, or a hint if no bar is selected. @param {number | undefined} at */
  #pick(at) {
    this.#picked = at;
    const bar = at === undefined ? undefined : this.#bars[at];
    const text = bar && `${bar.label}: ${number(bar.value)} admitted, ${number(bar.refused)} refused`;
    setText(this.readout, text ?? 'Point at a bar, or use the arrow keys, to see its numbers.');
    for (const [index, group] of this.drawing.querySelectorAll('g').entries())
      group.classList.toggle('picked', index === at);
    const { drawing } = this;
    drawing.setAttribute('aria-valuemin', '1');
    drawing.setAttribute('aria-valuemax', String(Math.max(1, this.#bars.length)));
    drawing.setAttribute('aria-valuenow', String((at ?? Math.max(0, this.#bars.length - 1)) + 1));
    drawing.setAttribute('aria-valuetext', text ?? 'None');
  }

  /** @param {number} x on the screen */
  #pickAt(x) {
    const { left, width } = this.drawing.getBoundingClientRect();
    const share = (x - left - ROOM.left) / (width - ROOM.left - ROOM.right);
    const at = Math.floor(share * this.#bars.length);
    this.#pick(at >= 0 && at < this.#bars.length ? at : undefined);
  }

  /** @param {KeyboardEvent} event */
  #moveWithKey(event) {
    const last = this.#bars.length - 1;
    const now = this.#picked ?? last;
    /** @type {Readonly<Record<string, number>>} */
    const targets = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      Home: 0,
      End: last,
    };
    const at = targets[event.key];
    if (at === undefined) return;
    event.preventDefault();
    this.#pick(Math.min(last, Math.max(0, at)));
  }

  #draw() {
    const width = this.drawing.clientWidth;
    if (width === 0 || this.#bars.length === 0) return;
    const max = Math.max(1, ...this.#bars.map(({ value, refused }) => value + refused));
    const isLimitShown = this.#limit <= max * FAR_ABOVE;
    // The axis ends at the limit, or at the largest value if that is higher.
    const top = isLimitShown && max <= this.#limit ? this.#limit : roundUp(max);
    const inner = { width: width - ROOM.left - ROOM.right, height: HEIGHT - ROOM.top - ROOM.bottom };
    const y = (/** @type {number} */ value) => ROOM.top + inner.height * (1 - value / top);
    const step = inner.width / this.#bars.length;
    const thick = Math.max(1, Math.min(28, step * 0.72));
    const every = Math.ceil((this.#bars.length * 64) / inner.width);
    const line = (/** @type {string} */ kind, /** @type {number} */ value) =>
      svg('line', { class: kind, x1: ROOM.left, x2: width - ROOM.right, y1: y(value), y2: y(value) });
    const tick = (
      /** @type {string} */ text,
      /** @type {number} */ x,
      /** @type {number} */ at,
      anchor = 'middle',
    ) => svg('text', { class: 'tick', x, y: at, 'text-anchor': anchor }, text);
    const bars = this.#bars.map(({ label, value, refused }, at) => {
      const x = ROOM.left + step * at + (step - thick) / 2;
      const piece = (
        /** @type {string} */ kind,
        /** @type {number} */ from,
        /** @type {number} */ amount,
      ) => {
        const height = Math.max(amount > 0 ? 2 : 0, inner.height * (amount / top));
        return svg('rect', {
          class: kind,
          x,
          y: y(from) - height,
          width: thick,
          height,
          rx: Math.min(3, thick / 2),
        });
      };
      const isLast = at === this.#bars.length - 1;
      const isNamed = (this.#bars.length - 1 - at) % every === 0;
      return svg(
        'g',
        piece('bar', 0, value),
        piece('bar refused', value, refused),
        isNamed && tick(label.slice(-5), x + thick / 2, HEIGHT - 6, isLast && every > 1 ? 'end' : 'middle'),
      );
    });
    const ticks = [0, top / 2, top].flatMap((value) => [
      line('grid', value),
      tick(SHORT.format(value), ROOM.left - 8, y(value) + 4, 'end'),
    ]);
    const box = { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, focusable: 'false' };
    replaceContent(this.drawing, svg('svg', box, ticks, bars, isLimitShown && line('limit', this.#limit)));
    this.#pick(this.#picked);
  }
}

/** The next of 2, 4, 10, 20, 40, 100…, so that half of it is a whole number. @param {number} value */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [2, 4, 6, 10, 20].map((factor) => factor * power).find((round) => round >= value) ?? value;
}

const SHORT = new Intl.NumberFormat('en', { notation: 'compact' });

/** A bar that shows the used part of a window, with its numbers. */
export class Meter {
  /** @param {string} name name of the window, for screen readers */
  constructor(name) {
    this.fill = el('span.fill');
    this.numbers = el('span.numbers');
    const track = el('span.track', { 'aria-hidden': 'true' }, this.fill);
    this.element = el('div.meter', el('span.meter-name', name), track, this.numbers);
  }

  /** @param {{ used: number, limit: number } | undefined} window */
  show(window) {
    const { used = 0, limit = 0 } = window ?? {};
    const share = limit === 0 ? 0 : Math.min(1, used / limit);
    this.fill.style.width = `${share === 0 ? 0 : Math.max(2, share * 100)}%`;
    this.fill.dataset.level = share >= 1 ? 'full' : share >= 0.8 ? 'high' : 'fine';
    setText(this.numbers, `${number(used)} of ${number(limit)}`);
  }
}
