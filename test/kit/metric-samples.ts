/** One sample of the Prometheus text format: its name, labels and value. */
interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SAMPLE = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/**
 * The sum of all samples of a metric that have at least these labels. For a histogram, append `_count` or `_sum` to the name. Returns 0 if
 * there is no such sample, for example because nothing has been counted yet.
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
