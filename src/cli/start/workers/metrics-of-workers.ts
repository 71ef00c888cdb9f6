import type { Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { MetricsSnapshot } from '../../../core/metrics/metrics.js';
import type { ToWorker } from './worker-messages.js';

/** How long workers may take to tell their metrics, in milliseconds. */
const ANSWER_LIMIT_MS = 1_000;

/**
 * The metrics of all workers in one. Counters and histograms are added up, gauges as `Metrics.gauge()` declares. What a worker has
 * counted stays counted when it has died or does not answer, as far as it told: a counter that falls would look like a restart. It
 * tells with each scrape, and every second.
 */
export class MetricsOfWorkers {
  /** What each has counted, as it last told. */
  private readonly counts = new Map<Worker, MetricsSnapshot>();
  /** What those show that have answered this scrape, beside their counts. */
  private readonly gauges = new Map<Worker, MetricsSnapshot>();
  private readonly ofEnded: MetricsSnapshot[] = [];
  private asked = 0;
  private pending = new Set<Worker>();
  private complete: () => void = () => undefined;
  /** One scrape at a time; those that come meanwhile get its answer. */
  private running: Promise<{ contentType: string; text: string }> | undefined;

  constructor(private readonly workers: () => readonly Worker[]) {}

  /** All metrics in the Prometheus text format, with its content type. */
  exposition(): Promise<{ contentType: string; text: string }> {
    return (this.running ??= this.collect().finally(() => (this.running = undefined)));
  }

  /** A worker has told what it has counted so far. */
  counted(worker: Worker, counts: MetricsSnapshot): void {
    this.counts.set(worker, counts);
  }

  /** A worker has told its metrics. */
  answered(worker: Worker, ask: number, metrics: MetricsSnapshot): void {
    this.counted(
      worker,
      metrics.filter((metric) => !isGauge(metric)),
    );
    if (ask !== this.asked) return;
    this.gauges.set(worker, metrics.filter(isGauge));
    this.pending.delete(worker);
    if (this.pending.size === 0) this.complete();
  }

  /** A worker has ended, and nothing more comes from it: what it last told of its counts is kept. */
  ended(worker: Worker): void {
    this.ofEnded.push(this.counts.get(worker) ?? []);
    this.counts.delete(worker);
    this.gauges.delete(worker);
    this.pending.delete(worker);
    if (this.pending.size === 0) this.complete();
  }

  private async collect(): Promise<{ contentType: string; text: string }> {
    const ask = (this.asked += 1);
    this.gauges.clear();
    this.pending = new Set(this.workers().filter((worker) => worker.isConnected()));
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<void>((resolve) => {
      this.complete = resolve;
      timer = setTimeout(resolve, ANSWER_LIMIT_MS);
      if (this.pending.size === 0) resolve();
    });
    const message: ToWorker = { petstore: 'metrics', ask };
    for (const worker of this.pending) worker.send(message, () => undefined);
    await answered;
    clearTimeout(timer);
    // However many have ended, one sum of them is kept.
    const ended = this.ofEnded.splice(0);
    this.ofEnded.push(await AggregatorRegistry.aggregate(ended).getMetricsAsJSON());
    const all = AggregatorRegistry.aggregate([
      ...this.ofEnded,
      ...this.counts.values(),
      ...this.gauges.values(),
    ]);
    return { contentType: all.contentType, text: await all.metrics() };
  }
}

function isGauge({ type }: MetricsSnapshot[number]): boolean {
  return type === 'gauge';
}
