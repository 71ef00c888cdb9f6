import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { softwareVersion } from '../software-version.js';

/** One value of a metric with labels. */
export interface LabelledValue<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** What a gauge shows when it is asked for: its value, or with labels all of its values. */
type Reading<Label extends string> = number | readonly LabelledValue<Label>[];

/** The values of all metrics of one process, as they are sent to its parent. `type` is `counter`, `gauge` or `histogram`. */
export type MetricsSnapshot = readonly { readonly type: unknown }[];

/** Gauges of prom-client that are named as if they were counters; each is the sum of the one without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/**
 * What is shown of gauges of prom-client where several processes are shown as one: that of the process which is worst off. An average or
 * sum would hide one that is blocked, or out of file descriptors, behind those that are well.
 */
const OF_WORST: Readonly<Record<string, 'max' | 'min'>> = {
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  process_open_fds: 'max',
  process_max_fds: 'min',
};

const VERSION = softwareVersion();

/** Creates metrics and exposes them. Each application has its own registry, so that several can run in one process in tests. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    // These include the event-loop lag: nodejs_eventloop_lag_seconds and its percentiles.
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    for (const [name, aggregator] of Object.entries(OF_WORST))
      Object.assign(this.registry.getSingleMetric(name) ?? {}, { aggregator });
    this.gauge(
      'petstore_build_info',
      'What runs: the version of the service and of Node; the value is always 1.',
      ['version', 'node'],
      () => [{ labels: { version: VERSION, node: process.versions.node }, value: 1 }],
    );
    this.gauge('petstore_processes', 'Processes that serve (WEB_CONCURRENCY).', [], () => 1, 'sum');
    // prom-client leaves process_start_time_seconds out where several processes are shown as one.
    this.gauge(
      'petstore_start_time_seconds',
      'When the latest of the processes was started, in seconds since the Unix epoch.',
      [],
      () => performance.timeOrigin / 1_000,
    );
  }

  /**
   * A counter, which only grows; its name ends in `_total`. With `read` its values are what that answers whenever the metrics are
   * asked for: what was counted since the start, kept where it is counted.
   */
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

  /**
   * A gauge, which goes up and down. With `read` its value is what that answers whenever the metrics are asked for, such as a
   * count of rows, which is the same in every process; one with labels has all the values that it answers, the last of those
   * with the same labels. It has none while `read` throws. `ofProcesses` tells what is shown of several processes
   * (WEB_CONCURRENCY): the sum, as of what each has for itself, the largest, which is the default with `read`, or the smallest.
   */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    read?: () => Reading<Label> | Promise<Reading<Label>>,
    ofProcesses: 'sum' | 'max' | 'min' = read ? 'max' : 'sum',
  ): Gauge<Label> {
    const gauge = { name, help, labelNames, registers: [this.registry], aggregator: ofProcesses };
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

  /** The values of all metrics, to be added to those of other processes. */
  async snapshot(): Promise<MetricsSnapshot> {
    const gauges = await this.valuesOf((metric) => metric instanceof Gauge);
    // Counts last: gauges may take their time, and what is told later must not have counted less.
    return [...gauges, ...(await this.counts())];
  }

  /** The values of all that only grows: counters and histograms. */
  async counts(): Promise<MetricsSnapshot> {
    return this.valuesOf((metric) => !(metric instanceof Gauge));
  }

  /** All metrics in the Prometheus text format, with its content type. */
  async exposition(): Promise<{ contentType: string; text: string }> {
    return { contentType: this.registry.contentType, text: await this.registry.metrics() };
  }

  private valuesOf(isWanted: (metric: object) => boolean): Promise<MetricsSnapshot> {
    const metrics = this.registry
      .getMetricsAsArray()
      .flatMap(({ name }) => this.registry.getSingleMetric(name) ?? [])
      .filter(isWanted);
    return Promise.all(metrics.map((metric) => metric.get()));
  }
}

/** Sets the gauge when it is asked for. One that cannot be read must not keep the others from being shown. */
function valueFrom<Label extends string>(
  read: () => Reading<Label> | Promise<Reading<Label>>,
  hasLabels: boolean,
) {
  return async function (this: Gauge<Label>): Promise<void> {
    const reading = await Promise.resolve()
      .then(read)
      .catch((): Reading<Label> => []);
    // What it no longer answers is gone; the value of one without labels becomes 0.
    this.reset();
    if (typeof reading === 'number') return this.set(reading);
    if (reading.length === 0 && !hasLabels) this.remove();
    for (const { labels, value } of reading) this.set(labels, value);
  };
}
