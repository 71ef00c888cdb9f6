import { setTimeout } from 'node:timers/promises';
import type { Instances } from './instances.js';
import type { ServiceProcess } from './service-process.js';

const LIMIT = 180;
const PER_SECOND = 40;
/** Minimum share of its limit that a client must be granted despite an incident, because each share of the remainder is rounded down. */
export const LEAST = 0.85;

/**
 * Uses up the limit of a new client at a steady pace, with an incident in the middle. Returns the client, the admitted requests as a
 * multiple of the limit, and all unexpected responses and log lines.
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

/**
 * Creates a client with the given number of requests per minute and per day, so that a new minute does not allow more. Returns its id and a
 * key.
 */
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

/** Sends requests with one key at a steady pace, to each instance in turn. */
export class SteadyLoad {
  /** The number of responses by status; 0 stands for no response. */
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

  /** The number of admitted requests. */
  get admitted(): number {
    return this.statuses.get(200) ?? 0;
  }

  /** The number of responses by status, except 200 and 429. */
  get unexpected(): [number, number][] {
    return [...this.statuses].filter(([status]) => status !== 200 && status !== 429);
  }

  /** Waits until the given number of requests have been admitted. */
  async untilAdmitted(count: number): Promise<void> {
    while (this.admitted < count) await setTimeout(5);
  }

  /** Waits until the limit is used up: none of the given number of consecutive requests was admitted. */
  async untilRefused(inARow: number): Promise<void> {
    for (;;) {
      const { admitted, sent } = this;
      while (this.sent < sent + inARow) await setTimeout(20);
      if (this.admitted === admitted) return;
    }
  }

  /** Stops sending, and waits for the responses to requests in flight. */
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
