import { setTimeout as pause } from 'node:timers/promises';
import { keepDoing } from '../keep-doing.js';
import { SeededRandom } from '../torture/random.js';
import { Caller, type Key } from './caller.js';
import type { Deployment } from './deployment.js';
import { type History, now } from './history.js';
import { type Changing, Overdrawing, clientChanger, keysOperator, keysUser } from './keys-load.js';
import { Pets, addPet, petsReader, petsWriter } from './pets-load.js';

/** Limit per minute of the client that exceeds its quota. */
export const SMALL_LIMIT = 100;
const WRITERS = 8;
/** Readers of animals, of keys, and of the client with the small limit: 24 in total. */
const READERS = { pets: 16, keys: 4, limit: 4 };

/** Writers and readers that work concurrently and record everything in a history. */
export class Load {
  private readonly ends: (() => Promise<void>)[] = [];
  private readonly pets = new Pets();

  private constructor(
    private readonly history: History,
    private readonly deployment: Deployment,
    private readonly operator: Key,
    private seed: number,
  ) {}

  /** Creates their clients with the command line, and starts them. */
  static async start(history: History, deployment: Deployment, seed: number): Promise<Load> {
    const make = async (perMinute: number, scopes: string): Promise<Key> => {
      const limits = `--plan enterprise --per-minute ${perMinute} --per-day 100000000`;
      const args = `client create --name History ${limits} --issue-key --scopes ${scopes}`.split(' ');
      const { id: clientId, key } = (await deployment.command(...args)) as { id: string; key: Key };
      return { ...key, clientId };
    };
    const operator = await make(10_000_000, 'admin,pets:read,pets:write');
    const small = await make(SMALL_LIMIT, 'pets:read');
    const load = new Load(history, deployment, operator, seed);
    load.startAll(small);
    return load;
  }

  /** The time that each instance takes until it accepts writes again, in milliseconds. */
  async heals(): Promise<number[]> {
    const startedAt = now();
    const caller = this.caller();
    const ofInstances = this.deployment.instances.map(async (_, on) => {
      while ((await addPet(caller, this.pets.next(caller), undefined, on))?.status !== 201) await pause(100);
      return now() - startedAt;
    });
    return Promise.all(ofInstances);
  }

  /** Stops all writers and readers after their current iteration. */
  async end(): Promise<void> {
    await Promise.all(this.ends.map((end) => end()));
  }

  private startAll(small: Key): void {
    const keys: Key[] = [];
    const changing: Changing = {};
    const overdrawing = new Overdrawing(small, this.deployment.instances.length);
    this.add(WRITERS, (caller) => petsWriter(caller, this.pets));
    this.add(READERS.pets, (caller) => petsReader(caller, this.pets));
    this.add(READERS.keys, (caller) => keysUser(caller, keys, changing));
    this.add(READERS.limit, (caller) => overdrawing.reader(caller));
    this.add(1, (caller) => keysOperator(caller, this.operator.clientId, keys));
    this.add(1, (caller) => clientChanger(caller, changing));
  }

  private add(clients: number, turnOf: (caller: Caller) => () => Promise<void>): void {
    for (let added = 0; added < clients; added += 1) {
      const caller = this.caller();
      const end = keepDoing(1, turnOf(caller));
      this.ends.push(async () => {
        await end();
        await caller.session.end();
      });
    }
  }

  private caller(): Caller {
    this.seed += 1;
    return new Caller(this.history, this.deployment, this.operator, new SeededRandom(this.seed));
  }
}
