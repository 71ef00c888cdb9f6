import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { softwareVersion } from '../software-version.js';
import { type LabeledValue, Tally } from './tally.js';

/** The value of a gauge at a scrape; with labels, all its values. */
type Reading<Label extends string> = number | readonly LabeledValue<Label>[];

/** Gauges of prom-client that are named like counters; each is the sum of the one without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const VERSION = softwareVersion();

/** Creates metrics and exports them. Each application has its own registry, so that tests can run several in one process. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    // Includes the event-loop lag: nodejs_eventloop_lag_seconds and its percentiles.
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.gauge(
      'petstore_build_info',
      'The versions of the service and of Node.js, as labels; the value is always 1.',
      ['version', 'node'],
      () => [{ labels: { version: VERSION, node: process.versions.node }, value: 1 }],
    );
    this.gauge(
      'petstore_start_time_seconds',
      'Start time of the process, in seconds since the Unix epoch.',
      [],
      () => performance.timeOrigin / 1_000,
    );
  }

  /** A counter, whose name must end in `_total`. With `read`, its values are read at each scrape. */
  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read?: () => readonly LabeledValue<Label>[],
  ): Counter<Label> {
    const counter = { name, help, labelNames, registers: [this.registry] };
    const add = (to: Counter<Label>, { labels, value }: LabeledValue<Label>) => to.inc(labels, value);
    return new Counter(read ? { ...counter, collect: valuesFrom(read, add) } : counter);
  }

  /** A counter for what happens with every request; its name must end in `_total`. */
  tally<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Tally<Label> {
    const tally = new Tally(labelNames);
    this.counter(name, help, labelNames, () => tally.read());
    return tally;
  }

  /** A gauge. With `read`, its values are read at each scrape; it has none while `read` throws or returns anything else. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    read?: () => Reading<Label> | Promise<Reading<Label>>,
  ): Gauge<Label> {
    const gauge = { name, help, labelNames, registers: [this.registry] };
    const set = (to: Gauge<Label>, { labels, value }: LabeledValue<Label>) => to.set(labels, value);
    return new Gauge(read ? { ...gauge, collect: valuesFrom(read, set) } : gauge);
  }

  /** A histogram; `buckets` are upper bounds in the unit in the metric's name. */
  histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ): Histogram<Label> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  /** All metrics in the Prometheus text format, with its content type. */
  async exposition(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }
}

/** Replaces a metric's values at a scrape. If a value cannot be read or set, the metric has none, and all others are still exported. */
function valuesFrom<Label extends string, Metric extends Counter<Label> | Gauge<Label>>(
  read: () => Reading<Label> | Promise<Reading<Label>>,
  set: (metric: Metric, value: LabeledValue<Label>) => void,
) {
  const replace = (metric: Metric, values: readonly LabeledValue<Label>[]): void => {
    metric.reset();
    // Without labels, the value would be 0.
    metric.remove({});
    for (const value of values) set(metric, value);
  };
  return async function (this: Metric): Promise<void> {
    try {
      const reading = await read();
      const labels = {} as Record<Label, string>;
      replace(this, typeof reading === 'number' ? [{ labels, value: reading }] : reading);
    } catch {
      replace(this, []);
    }
  };
}
