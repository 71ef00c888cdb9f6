import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { freePort } from '../free-port.js';
import { clientWithKey, petstoreHere } from '../petstore-here.js';
import { folderOfTest } from '../service-process.js';
import { NO_SMALL_DISK, fill, smallDisk } from '../small-disk.js';
import { SqliteFile, rowsOf } from '../sqlite-file.js';
import { Instance } from './instance.js';
import { Ledger, type Span } from './ledger.js';
import { Load } from './load.js';

/** Limit per minute of the client that exceeds its quota. */
export const SMALL_LIMIT = 200;

/** Options for running a store. */
export interface Running {
  readonly environment?: NodeJS.ProcessEnv;
  /** Whether 503 `service_unavailable` is expected during a fault. */
  readonly mayRefuse?: boolean;
}

/** Nothing is lost or stored twice, all responses are expected, every shutdown is graceful, and the file is intact. */
export const ALL_WELL = {
  lost: [],
  twice: [],
  unasked: [],
  unexpected: [],
  failedStops: [],
  integrity: [{ integrity_check: 'ok' }],
};

/** A store that serves requests under load, and the record of the responses to its clients. */
export class TorturedStore {
  /** Time spans in which writing was impossible. */
  private readonly blocked: Span[] = [];

  private constructor(
    private readonly path: string,
    readonly instance: Instance,
    private readonly ledger: Ledger,
    private readonly load: Load,
  ) {}

  /** Starts the process and the load, on a small disk if one can be mounted. They stop at the end of the test. */
  static async start({ environment = {}, mayRefuse = false }: Running): Promise<TorturedStore> {
    const path = await (NO_SMALL_DISK === undefined ? smallDisk(64, 1_000) : folderOfTest());
    await petstoreHere(path, ['db', 'seed', '--count', '20']);
    const issue = (perMinute: number, scopes: string) =>
      clientWithKey(
        path,
        {},
        `--plan enterprise --per-minute ${perMinute} --per-day 100000000 --scopes ${scopes}`.split(' '),
      );
    const { key } = await issue(10_000_000, 'pets:read,pets:write,admin');
    const small = await issue(SMALL_LIMIT, 'pets:read');
    const instance = new Instance(path, environment, await freePort());
    await instance.start();
    const ledger = new Ledger();
    const load = new Load(instance.origin, ledger, mayRefuse ? [503] : []);
    load.write(key, 4).read(key, 2).overdraw(small, key, 2);
    return new TorturedStore(path, instance, ledger, load);
  }

  /** Fills the disk completely for a while, in milliseconds. Requires a small disk. */
  async fill(ms: number): Promise<void> {
    if (NO_SMALL_DISK !== undefined) return;
    const from = performance.now();
    await fill(this.path);
    await pause(ms);
    await rm(join(this.path, 'ballast'));
    this.blocked.push({ from, to: performance.now() });
  }

  /** Holds the write lock for a while, in milliseconds, as another program might. */
  async lock(ms: number): Promise<void> {
    const from = performance.now();
    const database = await SqliteFile.open(this.file);
    await database.run('PRAGMA busy_timeout = 20000; BEGIN IMMEDIATE');
    await pause(ms);
    await database.close();
    this.blocked.push({ from, to: performance.now() });
  }

  /** Stops the load and the process, and compares the file with the ledger. */
  async outcome() {
    const { file, instance, ledger, load } = this;
    await load.end();
    await instance.stop();
    // Without any requests, the test would prove nothing.
    expect(ledger.acknowledgements).toBeGreaterThan(0);
    const stored = `SELECT id, name FROM pets WHERE name LIKE 'torture-%'`;
    return {
      ...ledger.compare(await rowsOf(file, stored)),
      unexpected: ledger.unexpected,
      failedStops: instance.failedStops,
      integrity: await rowsOf(file, 'PRAGMA integrity_check'),
      admission: ledger.admission(SMALL_LIMIT, instance.ends, this.blocked),
    };
  }

  private get file(): string {
    return join(this.path, 'data/petstore.sqlite');
  }
}
