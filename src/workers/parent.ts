import 'reflect-metadata';
import cluster, { type Worker } from 'node:cluster';
import { readDatabaseUrl } from '../config/database-url.js';
import type { Settings } from '../config/settings.js';
import { AppLogger } from '../logging/app-logger.js';
import { ManagementServer } from '../metrics/management-server.js';
import { Metrics } from '../metrics/metrics.js';
import { MetricsOfWorkers } from './metrics-of-workers.js';
import { type ToWorker, isFromWorker } from './worker-messages.js';

/** Waits before a worker is started again, in milliseconds: doubled each time until one has lived long enough. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
const LONG_LIFE_MS = 60_000;
/** What a worker may need beyond its own time limits before it is killed, in milliseconds. */
const BEYOND_STOP_MS = 5_000;

/**
 * The parent of several processes that serve one port (WEB_CONCURRENCY). It serves no request of the API: it starts the workers,
 * starts one again that has died, stops them all, and shows the metrics of all.
 */
export class Parent {
  private readonly workers = new Map<Worker, { readonly startedAt: number; pauseMs: number }>();
  private readonly logger: AppLogger;
  private readonly metrics: MetricsOfWorkers;
  private readonly management: ManagementServer;
  private isStopping = false;
  private exitCode = 0;
  private isServing = false;

  constructor(private readonly settings: Settings) {
    this.logger = new AppLogger(settings, new Metrics());
    this.metrics = new MetricsOfWorkers(() => [...this.workers.keys()]);
    this.management = new ManagementServer(this.metrics, settings);
  }

  /**
   * Starts the first worker alone: it migrates the database and prepares the first start. When it serves, starts the others.
   * When it cannot start it has told why, and this process ends as it did.
   */
  async start(): Promise<void> {
    const { webConcurrency, managementPort } = this.settings;
    const port = await this.management.listen().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new Error(
        `MANAGEMENT_PORT: port ${managementPort} is in use; set MANAGEMENT_PORT to a free one.`,
      );
    });
    cluster.on('exit', (worker, code, signal) => this.ended(worker, code, signal));
    cluster.on('message', (worker, message: unknown) => {
      if (!isFromWorker(message)) return;
      // Node drops what is sent to a worker before it hears.
      if (this.isStopping) tell(worker, { petstore: 'stop' });
      if (message.petstore === 'metrics') this.metrics.answered(worker, message.ask, message.metrics);
      else if (message.petstore === 'running' && !this.isServing) {
        this.isServing = true;
        if (port !== null) this.logger.log(`Metrics of all on port ${port} at /metrics`, 'Start');
        for (let count = 1; count < webConcurrency; count += 1) this.fork(FIRST_PAUSE_MS);
      }
    });
    this.fork(FIRST_PAUSE_MS);
  }

  /** Stops all workers; each finishes its requests in flight. A second call ends all at once. */
  readonly stop = (signal: string): void => {
    if (this.isStopping) return this.kill();
    this.isStopping = true;
    this.logger.log(`${signal}: stopping ${this.workers.size} workers`, 'Stop');
    for (const worker of this.workers.keys()) tell(worker, { petstore: 'stop' });
    const limitMs = 2 * Math.max(this.settings.shutdownTimeoutMs, 2_000) + BEYOND_STOP_MS;
    setTimeout(() => this.kill(), limitMs).unref();
    if (this.workers.size === 0) void this.end();
    return undefined;
  };

  private fork(pauseMs: number): void {
    if (this.isStopping) return;
    // This process serves the metrics of all.
    const worker = cluster.fork({ MANAGEMENT_PORT: 'off' });
    this.workers.set(worker, { startedAt: performance.now(), pauseMs });
  }

  private ended(worker: Worker, code: number, signal: string | null): void {
    const { startedAt = 0, pauseMs = FIRST_PAUSE_MS } = this.workers.get(worker) ?? {};
    this.workers.delete(worker);
    this.metrics.ended(worker);
    if (this.isStopping || !this.isServing) {
      // One that ends with a code has told why.
      if (signal !== null && !this.isStopping)
        process.stderr.write(`The service could not start: its first worker was ended by ${signal}\n`);
      if (code !== 0 || signal !== null) this.exitCode = 1;
      if (this.workers.size === 0) void this.end();
      return;
    }
    const pause = performance.now() - startedAt >= LONG_LIFE_MS ? FIRST_PAUSE_MS : pauseMs;
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    this.logger.warn(`Worker ${worker.process.pid} ended ${how}; another starts in ${pause} ms`, 'Workers');
    setTimeout(() => this.fork(Math.min(2 * pause, LONGEST_PAUSE_MS)), pause).unref();
  }

  private kill(): void {
    this.exitCode = 1;
    for (const worker of this.workers.keys()) worker.process.kill('SIGKILL');
    if (this.workers.size === 0) void this.end();
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
