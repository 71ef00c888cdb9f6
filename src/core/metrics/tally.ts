/** One value of a metric with labels. */
export interface LabeledValue<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

type LabelValue = string | number;

/** A count, and the counts that have one more label value. */
class Count {
  value = 0;
  readonly longer = new Map<LabelValue, Count>();
}

/**
 * Counts by the values of labels; a counter reads it at each scrape. prom-client joins the values to a text for each count, and the four
 * counts of a 429 took 3 % of its time; here, the values are looked up one after the other.
 */
export class Tally<Label extends string> {
  private readonly root = new Count();

  constructor(private readonly labelNames: readonly Label[]) {}

  /** Counts one, for one value of each label, in the order of their names. */
  add(...values: readonly LabelValue[]): void {
    let count = this.root;
    for (const value of values) {
      let longer = count.longer.get(value);
      if (!longer) count.longer.set(value, (longer = new Count()));
      count = longer;
    }
    count.value += 1;
  }

  /** All counts since the start. */
  read(): LabeledValue<Label>[] {
    return [...this.countsBelow(this.root, {})];
  }

  private *countsBelow(
    { value, longer }: Count,
    labels: Readonly<Record<string, string>>,
  ): Generator<LabeledValue<Label>> {
    if (value > 0) yield { labels, value };
    const name = this.labelNames[Object.keys(labels).length] ?? '';
    for (const [labelValue, count] of longer)
      yield* this.countsBelow(count, { ...labels, [name]: String(labelValue) });
  }
}
