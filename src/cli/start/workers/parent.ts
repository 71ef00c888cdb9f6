import 'reflect-metadata';
import cluster, { type Worker } from 'node:cluster';
import { readDatabaseUrl } from '../../../core/config/database-url.js';
import type { Settings } from '../../../core/config/settings.js';
import { AppLogger } from '../../../core/logging/app-logger.js';
import { ManagementServer } from '../../../core/metrics/management-server.js';
import { Metrics } from '../../../core/metrics/metrics.js';
import { MetricsOfWorkers } from './metrics-of-workers.js';
import { WorkerEnds } from './worker-ends.js';
import { type FromWorker, type ToWorker, isFromWorker } from './worker-messages.js';

/** Waits before a worker is started again, in milliseconds: doubled each time until one has lived long enough. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
const LONG_LIFE_MS = 60_000;
/** Least time in which a worker must have heard of a stop, in milliseconds: it may be busy. */
const HEARING_MS = 2_000;
/** What a worker that stops may need beyond SHUTDOWN_TIMEOUT_MS, in milliseconds: for its last writes, its log and its exit. */
const LAST_WRITES_MS = 4_000;

/** What the parent knows of a worker. */
interface StartedWorker {
  readonly startedAt: number;
  readonly pauseMs: number;
  isServing: boolean;
  /** Whether it has heard that it is to stop. */
  isStopping: boolean;
  /** Why it cannot start. */
  reason?: string;
}

/**
 * The parent of several processes that serve one port (WEB_CONCURRENCY). It serves no request of the API: it starts the workers,
 * starts one again that has died, stops them all, and shows the metrics of all.
 */
export class Parent {
  private readonly workers = new Map<Worker, StartedWorker>();
  private readonly logger: AppLogger;
  private readonly ends: WorkerEnds;
  private readonly metrics: MetricsOfWorkers;
  private readonly management: ManagementServer;
  private isStopping = false;
  private exitCode = 0;
  private isServing = false;

  constructor(private readonly settings: Settings) {
    this.logger = new AppLogger(settings, new Metrics());
    this.ends = new WorkerEnds(this.logger);
    this.metrics = new MetricsOfWorkers(() => [...this.workers.keys()]);
    this.management = new ManagementServer(this.metrics, settings);
  }

  /**
   * Starts the first worker alone: it migrates the database and prepares the first start. When it serves, starts the others.
   * When it cannot start it has told why, and this process ends as it did.
   */
  async start(): Promise<void> {
    const { webConcurrency } = this.settings;
    const port = await this.management.listen();
    cluster.on('exit', (worker, code, signal) => this.ended(worker, code, signal));
    cluster.on('message', (worker, message: unknown) => {
      if (!isFromWorker(message)) return;
      // Node drops what is sent to a worker before it hears.
      if (this.isStopping) tell(worker, { petstore: 'stop' });
      this.told(worker, message);
      if (message.petstore !== 'running' || this.isServing) return;
      this.isServing = true;
      if (port !== null) this.logger.log(`Metrics of all on port ${port} at /metrics`, 'Start');
      for (let count = 1; count < webConcurrency; count += 1) this.fork(FIRST_PAUSE_MS);
    });
    this.fork(FIRST_PAUSE_MS);
  }

  /** Stops all workers; each finishes its requests in flight. A second call ends all at once. */
  readonly stop = (signal: string): void => {
    if (this.isStopping) return this.kill();
    this.isStopping = true;
    const { size } = this.workers;
    this.logger.log(`${signal}: stopping ${size === 1 ? '1 worker' : `${size} workers`}`, 'Stop');
    for (const worker of this.workers.keys()) tell(worker, { petstore: 'stop' });
    const { shutdownDelayMs, shutdownTimeoutMs } = this.settings;
    const hearingMs = Math.max(shutdownTimeoutMs, HEARING_MS);
    const stoppingMs = shutdownDelayMs + shutdownTimeoutMs + LAST_WRITES_MS;
    setTimeout(() => this.killUnheard(hearingMs), hearingMs).unref();
    setTimeout(() => this.kill(`has not ended in ${stoppingMs} ms`), stoppingMs).unref();
    if (size === 0) void this.end();
    return undefined;
  };

  private fork(pauseMs: number): void {
    if (this.isStopping) return;
    // This process serves the metrics of all.
    const worker = cluster.fork({ MANAGEMENT_PORT: 'off' });
    this.workers.set(worker, { startedAt: performance.now(), pauseMs, isServing: false, isStopping: false });
  }

  private told(worker: Worker, message: FromWorker): void {
    const started = this.workers.get(worker);
    if (message.petstore === 'counts') this.metrics.counted(worker, message.metrics);
    if (message.petstore === 'metrics') this.metrics.answered(worker, message.ask, message.metrics);
    if (message.petstore === 'running' && started) {
      started.isServing = true;
      this.ends.serves();
    }
    if (message.petstore === 'stops' && started) started.isStopping = true;
    if (message.petstore === 'failed' && started) {
      started.reason = message.reason;
      // The first one's reason is that of this process, which ends as it does.
      if (!this.isServing) process.stderr.write(`${message.reason}\n`);
    }
  }

  private ended(worker: Worker, code: number, signal: string | null): void {
    const started = this.workers.get(worker);
    const { startedAt = 0, pauseMs = FIRST_PAUSE_MS, isServing: hadServed = false, reason } = started ?? {};
    this.workers.delete(worker);
    // What it told last may come after this.
    if (worker.isConnected()) worker.once('disconnect', () => this.metrics.ended(worker));
    else this.metrics.ended(worker);
    if (this.isStopping || !this.isServing) {
      // One that ends with a code has told why.
      if (signal !== null && !this.isStopping)
        process.stderr.write(`The service could not start: its first worker was ended by ${signal}\n`);
      if (code !== 0 || signal !== null) this.exitCode = 1;
      if (this.workers.size === 0) void this.end();
      return;
    }
    const pause = performance.now() - startedAt >= LONG_LIFE_MS ? FIRST_PAUSE_MS : pauseMs;
    this.ends.ended({ pid: worker.process.pid, startedAt, hadServed, reason, code, signal }, pause);
    setTimeout(() => this.fork(Math.min(2 * pause, LONGEST_PAUSE_MS)), pause).unref();
  }

  /** Ends the workers that would take no notice of anything else: what they have in flight has had its time. */
  private killUnheard(afterMs: number): void {
    const unheard = [...this.workers].filter(([, { isStopping }]) => !isStopping);
    this.kill(
      `has not heard of the stop in ${afterMs} ms`,
      unheard.map(([worker]) => worker),
    );
  }

  private kill(reason = 'is told twice to stop', workers: Iterable<Worker> = this.workers.keys()): void {
    for (const worker of workers) {
      this.exitCode = 1;
      this.logger.warn(`Worker ${worker.process.pid} ${reason} and is killed`, 'Stop');
      worker.process.kill('SIGKILL');
    }
  }

  private async end(): Promise<void> {
    if (this.isStopping) this.logger.log('Stopped', 'Stop');
    await this.logger.finish();
    process.exit(this.exitCode);
  }
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** Why several processes cannot serve with these settings, and what to set; undefined if they can. */
export function obstacleOf({ webConcurrency, redisUrl, databaseUrl }: Settings): string | undefined {
  const address = readDatabaseUrl(databaseUrl);
  if (address?.kind === 'sqlite' && address.file === ':memory:')
    return `WEB_CONCURRENCY=${webConcurrency}: each process would have a database of its own. Set DATABASE_URL to a file or to PostgreSQL.`;
  if (redisUrl !== null) return undefined;
  return (
    `WEB_CONCURRENCY=${webConcurrency}: without Redis each process counts quotas for itself, so that a client could use its quota ` +
    'once in each. Set REDIS_URL, or WEB_CONCURRENCY=1.'
  );
}
