import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type TestResponse, type RequestOptions, send } from '../../kit/test-response.js';
import { keepDoing } from '../keep-doing.js';
import type { Ledger } from './ledger.js';

/** Pause between two requests of a client, in milliseconds, to leave CPU time for the service. */
const BETWEEN_MS = 4;
/** Maximum wait before a retry, in milliseconds, regardless of `Retry-After`, because the faults are short. */
const RETRY_MS = 150;

/** Clients that write, read and exceed their quota until the end of the test. They retry as using-the-api.md describes. */
export class Load {
  private readonly ends: (() => Promise<void>)[] = [];

  constructor(
    private readonly origin: string,
    private readonly ledger: Ledger,
    /** Expected statuses in addition to those of success, such as 503 during a fault. */
    private readonly alsoAllowed: readonly number[],
  ) {}

  /** Adds clients that create animals, each with an `Idempotency-Key`, and read each one back. */
  write(key: string, clients: number): this {
    return this.add(clients, async () => {
      const name = `torture-${randomUUID()}`;
      this.ledger.send(name);
      const headers = { 'idempotency-key': randomUUID() };
      const options = { key, json: { name, categoryId: 1 }, headers };
      const { id } = (await this.request('POST', '/v1/pets', options, [201, 409])).body as { id: number };
      this.ledger.acknowledge(name, id);
      const read = await this.request('GET', `/v1/pets/${id}`, { key }, [200]);
      if (!read.text.includes(name)) this.ledger.unexpected.push(`${id} is not ${name}: ${read.text}`);
    });
  }

  /** Adds clients that read the first page and one animal. */
  read(key: string, clients: number): this {
    return this.add(clients, async () => {
      for (const path of ['/v1/pets?limit=20', '/v1/pets/1']) await this.request('GET', path, { key }, [200]);
    });
  }

  /** Adds clients that share a key and send more requests than its limit per minute allows. Bans of the key are lifted with another key. */
  overdraw({ id, key }: { id: string; key: string }, adminKey: string, clients: number): this {
    return this.add(clients, async () => {
      const response = await this.request('GET', '/v1/pets?limit=1', { key }, [200, 429]);
      if (response.status === 200) this.ledger.admit(Number(response.headers.get('x-ratelimit-reset')));
      if (response.status !== 429) return;
      if (response.text.includes('api_key_banned'))
        await this.request('POST', `/admin/keys/${id}/unban`, { key: adminKey }, [200]);
      await pause(100);
    });
  }

  /** Stops all clients after they have received the responses to their requests. */
  async end(): Promise<void> {
    await Promise.all(this.ends.map((end) => end()));
  }

  private add(clients: number, turn: () => Promise<void>): this {
    this.ends.push(keepDoing(clients, () => turn().then(() => pause(BETWEEN_MS))));
    return this;
  }

  /** Retries until the response is neither 503 nor 409, also if a request fails without a response. */
  private async request(
    method: string,
    path: string,
    options: RequestOptions,
    allowed: readonly number[],
  ): Promise<TestResponse> {
    for (;;) {
      const response = await send(this.origin, method, path, options).catch(() => undefined);
      if (response) {
        this.ledger.record(response, [...allowed, ...this.alsoAllowed], `${method} ${path}`);
        if (response.status !== 503 && response.status !== 409) return response;
      }
      await pause(response ? RETRY_MS : 40);
    }
  }
}
