import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { softwareVersion } from '../software-version.js';

/** One value of a metric with labels. */
export interface LabelledValue<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** Value of a gauge at a scrape; with labels all of its values. */
type Reading<Label extends string> = number | readonly LabelledValue<Label>[];

/** Gauges of prom-client that are named as if they were counters; each is the sum of the one without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

const VERSION = softwareVersion();

/** Creates metrics and exposes them. Each application has its own registry, so that several can run in one process in tests. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    // These include the event-loop lag: nodejs_eventloop_lag_seconds and its percentiles.
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    this.gauge(
      'petstore_build_info',
      'What runs: the version of the service and of Node; the value is always 1.',
      ['version', 'node'],
      () => [{ labels: { version: VERSION, node: process.versions.node }, value: 1 }],
    );
    this.gauge(
      'petstore_start_time_seconds',
      'When the process was started, in seconds since the Unix epoch.',
      [],
      () => performance.timeOrigin / 1_000,
    );
  }

  /** A counter, whose name ends in `_total`; with `read` it shows what was counted since the start, kept where it is counted. */
  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    read?: () => readonly LabelledValue<Label>[],
  ): Counter<Label> {
    const counter = { name, help, labelNames, registers: [this.registry] };
    if (!read) return new Counter(counter);
    return new Counter({
      ...counter,
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.inc(labels, value);
      },
    });
  }

  /** A gauge; with `read` it has the values that this returns at each scrape, and none while it throws. */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    read?: () => Reading<Label> | Promise<Reading<Label>>,
  ): Gauge<Label> {
    const gauge = { name, help, labelNames, registers: [this.registry] };
    return new Gauge(read ? { ...gauge, collect: valueFrom(read, labelNames.length > 0) } : gauge);
  }

  /** A histogram; `buckets` are upper bounds in the unit that its name ends in. */
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

/** Sets the gauge at a scrape. One that cannot be read must not keep the others from being shown. */
function valueFrom<Label extends string>(
  read: () => Reading<Label> | Promise<Reading<Label>>,
  hasLabels: boolean,
) {
  return async function (this: Gauge<Label>): Promise<void> {
    const reading = await Promise.resolve()
      .then(read)
      .catch((): Reading<Label> => []);
    // Values that it no longer returns are removed; without labels the value becomes 0.
    this.reset();
    if (typeof reading === 'number') return this.set(reading);
    if (reading.length === 0 && !hasLabels) this.remove();
    for (const { labels, value } of reading) this.set(labels, value);
  };
}
