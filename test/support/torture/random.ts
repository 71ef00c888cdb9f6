/** Random numbers that are determined by a seed (mulberry32), so that a failed run can be repeated. */
export class SeededRandom {
  constructor(private state: number) {}

  /** A number from `least` (inclusive) to `most` (exclusive). */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** A random element of the choices. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.next() * choices.length)] ?? choices[0];
  }

  private next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
