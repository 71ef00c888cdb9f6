import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, nextPageOf, send } from '../../kit/answer.js';
import type { Ledger } from './ledger.js';

/** Between two requests of one client, in milliseconds: the machine is wanted by the service, too, and by other suites. */
const BETWEEN_MS = process.env.PETSTORE_TEST_WHOLE !== undefined ? 4 : 16;
/** Longest wait before a retry, in milliseconds, whatever `Retry-After` says: the faults are short. */
const RETRY_MS = 150;

/** Clients that write, read and overdraw their quota, until they are told to end. They retry as using-the-api.md says. */
export class Load {
  private readonly clients: Promise<void>[] = [];
  private over = false;
  private next = 0;

  constructor(
    /** Addresses of the instances; asked anew for every attempt, since an instance may have moved. */
    private readonly origins: () => readonly string[],
    private readonly ledger: Ledger,
    /** Statuses that are promised beside those of success, such as 503 while a fault lasts. */
    private readonly alsoAllowed: readonly number[],
  ) {}

  /** Adds clients that create animals, each with an `Idempotency-Key`, and read each one back. */
  write(key: string, clients: number): this {
    return this.add(clients, () => this.create(key));
  }

  /** Adds clients that read the first page and one animal. */
  read(key: string, clients: number): this {
    return this.add(clients, async () => {
      const { status } = await this.answered('GET', '/v1/pets?limit=20', key, [200]);
      if (status === 200) await this.answered('GET', '/v1/pets/1', key, [200]);
    });
  }

  /** Adds clients of one key that ask for more than its minute has room for; its bans are lifted with another. */
  overdraw(name: string, { id, key }: { id: string; key: string }, adminKey: string, clients: number): this {
    return this.add(clients, async () => {
      const { status, headers, text } = await this.answered('GET', '/v1/pets?limit=1', key, [200, 429]);
      if (status === 200) this.ledger.admit(name, Number(headers.get('x-ratelimit-reset')));
      if (status !== 429) return;
      if (text.includes('api_key_banned'))
        await this.answered('POST', `/admin/keys/${id}/unban`, adminKey, [200]);
      await pause(100);
    });
  }

  /** Ends all clients once their requests are answered. */
  async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.clients);
  }

  /** All animals that the store has, page by page. */
  async stored(key: string): Promise<{ name: string; id: number }[]> {
    const pets: { name: string; id: number }[] = [];
    let path: string | undefined = '/v1/pets?limit=100';
    while (path !== undefined) {
      const { headers, body }: Answer = await this.answered('GET', path, key, [200]);
      pets.push(...(body as { name: string; id: number }[]));
      path = nextPageOf(headers);
    }
    return pets;
  }

  private add(clients: number, turn: () => Promise<void>): this {
    const run = async (): Promise<void> => {
      while (!this.over) {
        await turn();
        await pause(BETWEEN_MS);
      }
    };
    for (let client = 0; client < clients; client += 1) this.clients.push(run());
    return this;
  }

  private async create(key: string): Promise<void> {
    const name = `torture-${randomUUID()}`;
    this.ledger.send(name);
    const body = JSON.stringify({ name, categoryId: 1 });
    const created = await this.answered('POST', '/v1/pets', key, [201, 409], body, randomUUID());
    const { id } = created.body as { id: number };
    this.ledger.acknowledge(name, id);
    const read = await this.answered('GET', `/v1/pets/${id}`, key, [200]);
    if (!read.text.includes(name)) this.ledger.unexpected.push(`${id} is not ${name}: ${read.text}`);
  }

  /** The first answer that is neither 503 nor 409; whatever ends without one is sent again. */
  private async answered(
    method: string,
    path: string,
    key: string,
    allowed: readonly number[],
    body?: string,
    idempotencyKey?: string,
  ): Promise<Answer> {
    for (;;) {
      const answer = await this.attempt(method, path, key, body, idempotencyKey).catch((error: unknown) => {
        this.ledger.fail(((error as Error).cause as NodeJS.ErrnoException | undefined)?.code);
      });
      if (answer === undefined) {
        await pause(40);
        continue;
      }
      const { status } = answer;
      this.ledger.answer(answer, [...allowed, ...this.alsoAllowed], `${method} ${path}`);
      if (status !== 503 && status !== 409) return answer;
      await pause(RETRY_MS);
    }
  }

  private attempt(method: string, path: string, key: string, json?: string, idempotencyKey?: string) {
    const origins = this.origins();
    this.next += 1;
    const headers: Record<string, string> = idempotencyKey ? { 'idempotency-key': idempotencyKey } : {};
    return send(origins[this.next % origins.length] ?? '', method, path, { key, json, headers });
  }
}
