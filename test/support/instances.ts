import { expect, vi } from 'vitest';
import { UNLIMITED, clientWithKey } from './petstore-here.js';
import { ServiceProcess, emptyFolder } from './service-process.js';

/** The lines of the log that tell of Redis. */
const CHANGE = /Quotas are counted in Redis|Redis failed|Redis cannot be used/g;
const COUNTED = 'Quotas are counted in Redis';
/** Maximum pause between two attempts to come back, and time for a machine that is busy, in milliseconds. */
const BACK_WITHIN = { timeout: 60_000, interval: 50 };

/** Started instances on one database, whose quotas are counted together. */
export class Instances {
  private constructor(
    readonly environment: Readonly<Record<string, string>>,
    readonly all: readonly ServiceProcess[],
    /** A key that may administer. */
    readonly adminKey: string,
    private readonly remove: () => Promise<unknown>,
  ) {}

  /** Starts so many; the first one makes the database. Close them when done. */
  static async start(count: number, environment: Readonly<Record<string, string>>): Promise<Instances> {
    const { path, remove } = await emptyFolder();
    const first = await ServiceProcess.start(path, environment);
    const others = Array.from({ length: count - 1 }, () => ServiceProcess.start(path, environment));
    const all = [first, ...(await Promise.all(others))];
    const scopes = ['--scopes', 'admin,pets:read,pets:write'];
    const { key } = await clientWithKey(path, environment, [...UNLIMITED, ...scopes]);
    return new Instances(environment, all, key, remove);
  }

  /** How many times the instances have started to count alone. */
  get failures(): number {
    return this.changes()
      .flat()
      .filter((change) => change === 'Redis failed').length;
  }

  /** Waits until all have noticed that Redis fails, since there were the given number of failures. */
  async untilAlone(failuresBefore: number): Promise<void> {
    const expected = failuresBefore + this.all.length;
    await vi.waitFor(() => expect(this.failures).toBeGreaterThanOrEqual(expected), BACK_WITHIN);
  }

  /** Waits until all count in Redis. */
  async untilInRedis(): Promise<void> {
    const inRedis = this.all.map(() => COUNTED);
    await vi.waitFor(
      () => expect(this.changes().map((changes) => changes.at(-1))).toEqual(inRedis),
      BACK_WITHIN,
    );
  }

  /** Lines of the log about errors of the service. */
  errors(): string[] {
    return this.all.flatMap(({ output }) => output.match(/^.*"level":[56]0.*$/gm) ?? []);
  }

  /** Stops them and removes the database. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((one) => one.stop()));
    await this.remove();
  }

  private changes(): string[][] {
    return this.all.map(({ output }) => output.match(CHANGE) ?? []);
  }
}
