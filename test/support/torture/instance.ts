import { setTimeout as pause } from 'node:timers/promises';
import { type LogLine, serviceOfTest, type ServiceProcess } from '../service-process.js';

/** A process of the service that is stopped and restarted on the same port. */
export class Instance {
  /** Nonzero exit codes of graceful shutdowns. */
  readonly failedStops: (number | null)[] = [];
  /** The times at which the process ended without writing its last counts, in milliseconds of `performance.now()`. */
  readonly ends: number[] = [];
  private process: ServiceProcess | undefined;
  private readonly processes: ServiceProcess[] = [];

  constructor(
    private readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly port: number,
    /** A program to start instead of the service. */
    private readonly main?: string,
  ) {}

  /** The origin at which the service listens, also after a restart. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The log lines of all processes. */
  get lines(): LogLine[] {
    return this.processes.flatMap(({ lines }) => lines);
  }

  /** Starts the service and waits until it listens. */
  async start(): Promise<void> {
    const environment = { ...this.environment, PORT: String(this.port) };
    this.process = await serviceOfTest(this.folder, environment, this.main);
    this.processes.push(this.process);
  }

  /** Kills the process with SIGKILL and restarts it. */
  async kill(): Promise<void> {
    await this.process?.stop('SIGKILL');
    this.ends.push(performance.now());
    await this.start();
  }

  /** Stops the process as an operator does. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const finished = await this.process?.stop(signal);
    if (finished?.code !== 0) this.failedStops.push(finished?.code ?? null);
  }

  /** Shuts the process down gracefully and restarts it. */
  async restart(signal?: NodeJS.Signals): Promise<void> {
    await this.stop(signal);
    await this.start();
  }

  /** Freezes the process for a while, in milliseconds, like a paused virtual machine. */
  async freeze(ms: number): Promise<void> {
    this.process?.signal('SIGSTOP');
    await pause(ms);
    this.process?.signal('SIGCONT');
  }
}
