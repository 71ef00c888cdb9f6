import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { onTestFinished, vi } from 'vitest';
import { DataVersion } from '../../src/database/data-version.js';
import type { TestService } from '../kit/test-service.js';

const WRITERS = 8;
const READERS = 24;
const LISTS = ['/v1/pets?limit=100', '/v1/pets?limit=100&status=available'];
/** Maximum number of rows per writer, small enough that all rows fit on one page. */
const MAX_ROWS = 6;

/**
 * Breaks the service on purpose until the end of the test: an instance reuses the version of the data for 30 requests, including later
 * ones. An attack must detect this.
 */
export function shareVersions(instances: readonly TestService[]): void {
  for (const { app } of instances) {
    const version = app.get(DataVersion);
    const fresh = version.fresh.bind(version);
    let [last, uses]: [ReturnType<typeof fresh> | undefined, number] = [undefined, 0];
    const spy = vi.spyOn(version, 'fresh').mockImplementation(() => {
      uses += 1;
      return (last = uses % 30 === 1 ? fresh() : last) ?? fresh();
    });
    onTestFinished(() => spy.mockRestore());
  }
}

type Query = (text: string, values?: unknown[]) => Promise<unknown>;
/** Changes one row. `rename` gives it the next number. */
type Update = (query: Query, rename: () => Promise<unknown>, id: string) => Promise<unknown>;

/** The ways in which a program changes a row. */
const UPDATES: Readonly<Record<string, Update>> = {
  update: (_, rename) => rename(),
  late: async (query, rename) => {
    await query('BEGIN');
    await rename();
    await pause(Math.random() * 150);
    await query('COMMIT');
  },
  subtransactions: async (query, rename, id) => {
    await query('BEGIN');
    await query('SAVEPOINT a');
    await rename();
    await query('RELEASE a');
    await query('SAVEPOINT b');
    await query(`UPDATE pets SET name = 'Rex 0' WHERE id = $1`, [id]);
    await query('ROLLBACK TO b');
    await query('COMMIT');
  },
  twoPhases: async (query, rename, id) => {
    await query('BEGIN');
    await rename();
    await query(`PREPARE TRANSACTION 'animal ${id}'`);
    await pause(Math.random() * 30);
    await query(`COMMIT PREPARED 'animal ${id}'`);
  },
};

/**
 * Writers that change animals through two instances and with SQL, and readers that check each list for all changes that were acknowledged
 * before the request. The names of animals end with an increasing number.
 */
export class Attack {
  /** The number of occurrences of each event. */
  readonly noted: Record<string, number> = {};
  /** The last acknowledged number of each animal. */
  private readonly acknowledged = new Map<string, number>();
  private readonly deleted = new Set<string>();
  private readonly stale: string[] = [];
  private number = 0;
  private writes = 0;
  private checks = 0;
  private isOver = false;

  constructor(
    private readonly instances: readonly [TestService, TestService],
    private readonly database: string,
    private readonly key: string,
    /** Whether the instances include PetChangesModule, which changes and deletes animals over HTTP. */
    private readonly changesByHttp = false,
  ) {}

  /** Runs until the given number of writes have been acknowledged. Injects the faults one after another, at equal intervals. */
  async run(most: number, faults: readonly (() => Promise<unknown>)[]) {
    const readers = Array.from({ length: READERS }, (_, at) => this.readAgain(at));
    const writers = Array.from({ length: WRITERS }, (_, at) => this.writeAgain(at, most));
    for (const [at, fault] of faults.entries()) {
      while (this.writes < (most * (at + 1)) / (faults.length + 1)) await pause(5);
      await fault();
    }
    await Promise.all(writers);
    this.isOver = true;
    await Promise.all(readers);
    const { stale, checks, writes } = this;
    return { stale, checks, writes };
  }

  private async readAgain(at: number): Promise<void> {
    for (let turn = at; !this.isOver; turn += 1) {
      await this.check(turn);
      if (at % 3 > 0) await pause(Math.random() * 6);
    }
  }

  private async writeAgain(writer: number, most: number): Promise<void> {
    const rows: string[] = [];
    let client: pg.Client | undefined;
    while (this.writes < most) {
      try {
        client ??= await this.connected();
        await this.write(writer, rows, client);
        this.writes += 1;
        // Through the other instance, immediately.
        await this.check(writer + 1 + 2 * (this.writes % 2));
      } catch (error) {
        this.note(`failed: ${String(error).slice(0, 60)}`);
        await client?.end().catch(() => undefined);
        client = undefined;
        await this.undoPrepared(rows);
        await pause(20);
      }
    }
    await client?.end();
  }

  /** Makes one change. A change that fails is not acknowledged, and may or may not have been made. */
  private async write(writer: number, rows: string[], client: pg.Client): Promise<void> {
    const number = (this.number += 1);
    const at = Math.floor(Math.random() * rows.length);
    const deletes = ['delete', ...(this.changesByHttp ? ['DELETE'] : [])];
    const changes = [...Object.keys(UPDATES), ...(this.changesByHttp ? ['PATCH'] : [])];
    const kinds =
      rows.length === 0 ? ['POST'] : rows.length >= MAX_ROWS ? deletes : ['POST', ...deletes, ...changes];
    const kind = kinds[number % kinds.length] ?? '';
    const query: Query = (text, values) => client.query(text, values);
    const id = rows[at] ?? '';
    const name = `Rex ${number}`;
    if (kind === 'POST') {
      const response = await this.change(writer, kind, '', { name, categoryId: 1 });
      const pet = (await response.json()) as { id: number };
      rows.push(String(pet.id));
      this.acknowledged.set(String(pet.id), number);
    } else if (deletes.includes(kind)) {
      rows.splice(at, 1);
      this.acknowledged.delete(id);
      if (kind === 'DELETE') await this.change(writer, kind, `/${id}`);
      else await query('DELETE FROM pets WHERE id = $1', [id]);
      this.deleted.add(id);
    } else {
      const rename = () => query('UPDATE pets SET name = $1 WHERE id = $2', [name, id]);
      if (kind === 'PATCH') await this.change(writer, kind, `/${id}`, { name });
      else await UPDATES[kind]?.(query, rename, id);
      this.acknowledged.set(id, number);
    }
    this.note(kind);
  }

  private async check(turn: number): Promise<void> {
    const before = [...this.acknowledged];
    const deleted = [...this.deleted];
    const response = await this.send(turn, LISTS[(turn >> 1) % LISTS.length] ?? '');
    if (response.status !== 200) return this.note(`GET ${response.status}`);
    this.checks += 1;
    const pets = (await response.json()) as { id: number; name: string }[];
    const numbers = new Map(pets.map(({ id, name }) => [String(id), Number(name.split(' ')[1])]));
    for (const [id, number] of before) {
      const shown = numbers.get(id);
      if (shown === undefined && this.acknowledged.has(id)) this.stale.push(`${id} is missing`);
      if (shown !== undefined && shown < number) this.stale.push(`${id} is ${shown}, was ${number} already`);
    }
    for (const id of deleted) if (numbers.has(id)) this.stale.push(`${id} was deleted already`);
  }

  /** Makes a change over HTTP. Throws unless it is acknowledged. */
  private async change(writer: number, method: string, path: string, json?: object): Promise<Response> {
    const response = await this.send(writer, `/v1/pets${path}`, method, json);
    if (!response.ok) throw new Error(`${method} ${response.status}`);
    return response;
  }

  private send(turn: number, path: string, method = 'GET', json?: object): Promise<Response> {
    const authorization = `Bearer ${this.key}`;
    return fetch(`${this.instances[turn % 2 === 0 ? 0 : 1].url}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(json ? { body: JSON.stringify(json) } : {}),
    });
  }

  private async connected(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.database });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** Rolls back prepared transactions: they survive their session and would keep rows locked. */
  private async undoPrepared(rows: readonly string[]): Promise<void> {
    let client: pg.Client | undefined;
    while (!client) client = await this.connected().catch(() => pause(20, undefined));
    for (const id of rows) await client.query(`ROLLBACK PREPARED 'animal ${id}'`).catch(() => undefined);
    await client.end().catch(() => undefined);
  }

  private note(what: string): void {
    this.noted[what] = (this.noted[what] ?? 0) + 1;
  }
}
