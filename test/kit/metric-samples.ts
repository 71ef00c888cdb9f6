/** One sample of the Prometheus text format: its name, labels and value. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * The sum of the samples of a metric that have these labels, and any others: of a histogram, name its `_count` or `_sum`.
 * 0 if there is no such sample, as of a counter that has not counted yet.
 */
export function metricIn(
  exposition: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels);
  return samplesOf(exposition)
    .filter(
      (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}

function samplesOf(exposition: string): Sample[] {
  return exposition.split('\n').flatMap((line) => {
    const { name, labels = '', value } = SAMPLE.exec(line)?.groups ?? {};
    if (name === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, unescaped(text)]);
    return [
      {
        name,
        labels: Object.fromEntries(pairs) as Record<string, string>,
        value: Number(value.replace('Inf', 'Infinity')),
      },
    ];
  });
}

/** A label's value without the escapes of the text format. */
function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}
