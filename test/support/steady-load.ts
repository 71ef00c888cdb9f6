import { setTimeout } from 'node:timers/promises';
import type { Instances } from './instances.js';
import type { ServiceProcess } from './service-process.js';

const LIMIT = 180;
const PER_SECOND = 40;
/** What of its limit a client must get alongside an incident: each share of what was left is rounded down. */
export const LEAST = 0.85;

/**
 * Uses up the limit of a new client at a steady pace, with an incident in its middle. Answers the client, how many times its limit was
 * admitted, and what was returned or logged that may not be.
 */
export async function exhaustQuotaDuring(instances: Instances, incident: (clientId: string) => unknown) {
  await instances.untilInRedis();
  const { id, key } = await limitedClient(instances, LIMIT);
  const load = new SteadyLoad(instances.all, key, PER_SECOND);
  await load.untilAdmitted(LIMIT / 3);
  await incident(id);
  await load.untilRefused(PER_SECOND);
  await load.end();
  await instances.untilInRedis();
  const wrong = [...load.unexpected, ...instances.errors()];
  return { id, limit: LIMIT, admitted: load.admitted / LIMIT, wrong };
}

/** A client of the given number of requests in a minute and in a day: the end of a minute opens nothing. Answers its id and a key of it. */
export async function limitedClient(
  { all: [instance], adminKey }: Instances,
  limit: number,
): Promise<{ id: string; key: string }> {
  const administer = async (path: string, json: object) => {
    const response = await instance?.request('POST', `/admin${path}`, { key: adminKey, json });
    if (response?.status !== 201) throw new Error(response?.text);
    return response.body as { id: string; key: string };
  };
  const limits = { perMinute: limit, perDay: limit };
  const { id } = await administer('/clients', { name: 'Shop', plan: 'enterprise', ...limits });
  const { key } = await administer('/keys', { clientId: id, scopes: ['pets:read', 'pets:write'] });
  return { id, key };
}

/** Requests of one key at a steady pace, to each instance in turn. */
export class SteadyLoad {
  /** How many responses had each status; 0 is none at all. */
  readonly statuses = new Map<number, number>();
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
    return this.statuses.get(200) ?? 0;
  }

  /** How many responses had each status but 200 and 429. */
  get unexpected(): [number, number][] {
    return [...this.statuses].filter(([status]) => status !== 200 && status !== 429);
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

  /** Sends no more, and waits for the responses under way. */
  async end(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.underWay);
  }

  private send(): void {
    const instance = this.instances[this.sent % this.instances.length];
    this.sent += 1;
    const pending = this.request(instance).finally(() => this.underWay.delete(pending));
    this.underWay.add(pending);
  }

  private async request(instance: ServiceProcess | undefined): Promise<void> {
    const response = await instance
      ?.request('GET', '/v1/pets?limit=1', { key: this.key })
      .catch(() => undefined);
    const status = response?.status ?? 0;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }
}
