import { setTimeout } from 'node:timers/promises';
import type { Instances } from './instances.js';
import { type ServiceProcess, petstore } from './service-process.js';

/** A client of so many requests in a minute and in a day: the end of a minute opens nothing. Answers its id and a key of it. */
export async function limitedClient(
  { folder, environment }: Pick<Instances, 'folder' | 'environment'>,
  limit: number,
): Promise<{ id: string; key: string }> {
  const administer = async (...args: string[]) => {
    const { code, stdout, stderr } = await petstore(folder, [...args, '--json'], environment);
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as { id: string; key: string };
  };
  const limits = ['--plan', 'enterprise', '--per-minute', String(limit), '--per-day', String(limit)];
  const { id } = await administer('client', 'create', '--name', 'Shop', ...limits);
  return { id, key: (await administer('key', 'issue', '--client', id)).key };
}

/** Requests of one key at a steady pace, to each instance in turn. */
export class SteadyLoad {
  /** How many answers had each status; 0 is none at all. */
  readonly answers = new Map<number, number>();
  /** How long the slowest answer took, in milliseconds. */
  slowestMs = 0;
  private readonly underWay = new Set<Promise<void>>();
  private sent = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly instances: readonly ServiceProcess[],
    private readonly key: string,
    perSecond: number,
  ) {
    this.timer = setInterval(() => this.send(), 1_000 / perSecond);
  }

  /** How many were admitted. */
  get admitted(): number {
    return this.answers.get(200) ?? 0;
  }

  /** How many answers had each status but 200 and 429. */
  get unexpected(): [number, number][] {
    return [...this.answers].filter(([status]) => status !== 200 && status !== 429);
  }

  /** Waits until so many were admitted. */
  async untilAdmitted(count: number): Promise<void> {
    while (this.admitted < count) await setTimeout(5);
  }

  /** Waits until the limit is used up: none of that many in a row was admitted. */
  async untilRefused(inARow: number): Promise<void> {
    for (;;) {
      const { admitted, sent } = this;
      while (this.sent < sent + inARow) await setTimeout(20);
      if (this.admitted === admitted) return;
    }
  }

  /** Sends no more, and waits for the answers under way. */
  async end(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.underWay);
  }

  private send(): void {
    const instance = this.instances[this.sent % this.instances.length];
    this.sent += 1;
    const asked = this.ask(`${instance?.url}/v1/pets?limit=1`).finally(() => this.underWay.delete(asked));
    this.underWay.add(asked);
  }

  private async ask(url: string): Promise<void> {
    const began = performance.now();
    const status = await fetch(url, { headers: { Authorization: `Bearer ${this.key}` } }).then(
      async (response) => (await response.arrayBuffer(), response.status),
      () => 0,
    );
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  }
}
