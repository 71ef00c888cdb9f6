import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Creates metrics and exposes them. Each application has its own registry, so that several can run in one process in tests. */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    // These include the event-loop lag: nodejs_eventloop_lag_seconds and its percentiles.
    collectDefaultMetrics({ register: this.registry });
  }

  /** A counter, which only grows; its name ends in `_total`. */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /**
   * A gauge, which goes up and down. With `read` its value is what that answers whenever the metrics are asked for, such as a
   * count of rows, which is the same in every process; it has none while `read` throws. Then it takes no labels.
   */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    read?: () => number | Promise<number>,
  ): Gauge<Label> {
    const gauge = { name, help, labelNames, registers: [this.registry] };
    return new Gauge(read ? { ...gauge, collect: valueFrom(read) } : gauge);
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

/** Sets the gauge when it is asked for. One that cannot be read must not keep the others from being shown. */
function valueFrom(read: () => number | Promise<number>) {
  return async function (this: Gauge): Promise<void> {
    try {
      this.set(await read());
    } catch {
      this.remove();
    }
  };
}
