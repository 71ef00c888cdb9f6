import { setTimeout as pause } from 'node:timers/promises';
import { type LogLine, serviceOfTest, type ServiceProcess } from '../service-process.js';

/** One process of the service that is ended and started again, on the same port. */
export class Instance {
  /** Exit codes of clean stops that were not 0. */
  readonly failedStops: (number | null)[] = [];
  /** When it ended without writing its last counts, in milliseconds of `performance.now()`. */
  readonly ends: number[] = [];
  private process: ServiceProcess | undefined;
  private readonly processes: ServiceProcess[] = [];

  constructor(
    private readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly port: number,
    /** What starts it instead of the service. */
    private readonly main?: string,
  ) {}

  /** Origin that it listens on, or will listen on again. */
  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The lines of its log, over all of its processes. */
  get lines(): LogLine[] {
    return this.processes.flatMap(({ lines }) => lines);
  }

  /** Starts it and waits until it listens. */
  async start(): Promise<void> {
    const environment = { ...this.environment, PORT: String(this.port) };
    this.process = await serviceOfTest(this.folder, environment, this.main);
    this.processes.push(this.process);
  }

  /** Kills it with SIGKILL and starts it again. */
  async kill(): Promise<void> {
    await this.process?.stop('SIGKILL');
    this.ends.push(performance.now());
    await this.start();
  }

  /** Ends it as an operator does. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const finished = await this.process?.stop(signal);
    if (finished?.code !== 0) this.failedStops.push(finished?.code ?? null);
  }

  /** Stops it cleanly and starts it again. */
  async restart(signal?: NodeJS.Signals): Promise<void> {
    await this.stop(signal);
    await this.start();
  }

  /** Lets it stand still for a while, in milliseconds, as a paused virtual machine does. */
  async freeze(ms: number): Promise<void> {
    this.process?.signal('SIGSTOP');
    await pause(ms);
    this.process?.signal('SIGCONT');
  }
}
