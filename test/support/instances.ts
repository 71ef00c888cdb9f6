import { expect, vi } from 'vitest';
import { UNLIMITED, clientWithKey } from './petstore-here.js';
import { ServiceProcess, emptyFolder } from './service-process.js';

/** The log lines about Redis. */
const CHANGE = /Quotas are counted in Redis|Redis failed|Redis cannot be used/g;
const COUNTED = 'Quotas are counted in Redis';
/** Maximum pause between two attempts to reconnect, plus time for a busy machine, in milliseconds. */
const BACK_WITHIN = { timeout: 60_000, interval: 50 };

/** Running instances that share a database and count quotas together. */
export class Instances {
  private constructor(
    readonly environment: Readonly<Record<string, string>>,
    readonly all: readonly ServiceProcess[],
    /** A key with the scope for administration. */
    readonly adminKey: string,
    private readonly remove: () => Promise<unknown>,
  ) {}

  /** Starts the given number of instances. The first one creates the database. Close them when done. */
  static async start(count: number, environment: Readonly<Record<string, string>>): Promise<Instances> {
    const { path, remove } = await emptyFolder();
    const first = await ServiceProcess.start(path, environment);
    const others = Array.from({ length: count - 1 }, () => ServiceProcess.start(path, environment));
    const all = [first, ...(await Promise.all(others))];
    const scopes = ['--scopes', 'admin,pets:read,pets:write'];
    const { key } = await clientWithKey(path, environment, [...UNLIMITED, ...scopes]);
    return new Instances(environment, all, key, remove);
  }

  /** The number of times that instances have switched to counting on their own. */
  get failures(): number {
    return this.changes()
      .flat()
      .filter((change) => change === 'Redis failed').length;
  }

  /** Waits until all instances have detected that Redis fails, since `failures` was the given number. */
  async untilAlone(failuresBefore: number): Promise<void> {
    const expected = failuresBefore + this.all.length;
    await vi.waitFor(() => expect(this.failures).toBeGreaterThanOrEqual(expected), BACK_WITHIN);
  }

  /** Waits until all instances count in Redis. */
  async untilInRedis(): Promise<void> {
    const inRedis = this.all.map(() => COUNTED);
    await vi.waitFor(
      () => expect(this.changes().map((changes) => changes.at(-1))).toEqual(inRedis),
      BACK_WITHIN,
    );
  }

  /** The log lines about internal errors. */
  errors(): string[] {
    return this.all.flatMap(({ output }) => output.match(/^.*"level":[56]0.*$/gm) ?? []);
  }

  /** Stops the instances and removes the database. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((one) => one.stop()));
    await this.remove();
  }

  private changes(): string[][] {
    return this.all.map(({ output }) => output.match(CHANGE) ?? []);
  }
}
