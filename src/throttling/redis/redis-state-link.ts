import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/time/clock.js';
import type { SharedDataVersion, SharedKind, StateLink } from '../../database/shared-data-version.js';
import type { RedisClient } from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';
import type { RedisLink } from './redis-link.js';
import { NAME_SCRIPT, WITHDRAW_SCRIPT } from './redis-scripts.js';

/** For how long a writer that does not say that it is done counts, in milliseconds: longer than any commit may take. */
const WRITER_MS = 60_000;
/** After this time a writer is noted anew, in milliseconds. */
const RENEWED_MS = 10_000;
/** How long names are kept that nobody asks for, in milliseconds. */
const NAMES_MS = 86_400_000;

interface StateCommands {
  withdrawStates(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  nameStates(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** The writers of this instance of one kind of what is cached. */
interface Writers {
  count: number;
  /** By the steady clock. */
  since: number;
  withdrawal: Promise<unknown>;
  /** The link that it was withdrawn by: a later one may lead to a Redis that knows nothing of it. */
  epoch: number;
}

/** Tells the other instances through Redis that this one writes, in one round trip for all writers that are under way together. */
export class RedisStateLink implements StateLink {
  private readonly id = randomUUID();
  private readonly redis: RedisClient & StateCommands;
  private readonly writers = new Map<SharedKind, Writers>();

  constructor(
    private readonly link: RedisLink,
    private readonly keys: RedisKeys,
    private readonly clock: Clock,
  ) {
    link.redis.defineCommand('withdrawStates', { lua: WITHDRAW_SCRIPT });
    link.redis.defineCommand('nameStates', { lua: NAME_SCRIPT });
    this.redis = link.redis as RedisClient & StateCommands;
  }

  /** Has a data version get its names from this Redis. */
  serve(version: SharedDataVersion): void {
    version.attach(this);
    this.link.onFailure = () => version.lost();
    // A writer that died, or a Redis that is new, has left states without a name.
    this.link.onBeat = () => this.name('', version.kinds);
  }

  async withdraw(kinds: readonly SharedKind[]): Promise<() => boolean> {
    if (!this.link.isUp) throw new Error('Redis is unavailable.');
    const { epoch } = this.link;
    for (const kind of kinds) this.writersOf(kind).count += 1;
    const isNew = kinds.filter((kind) => !this.isNoted(kind));
    if (isNew.length > 0) {
      const withdrawal = this.send('withdrawStates', isNew, this.id, WRITER_MS);
      const since = this.clock.steady();
      for (const kind of isNew) Object.assign(this.writersOf(kind), { since, withdrawal, epoch });
    }
    try {
      await Promise.all(kinds.map((kind) => this.writersOf(kind).withdrawal));
    } catch (error) {
      for (const kind of kinds) this.writersOf(kind).count -= 1;
      this.link.failed(error);
      throw error;
    }
    return () => this.link.isUp && this.link.epoch === epoch;
  }

  async release(kinds: readonly SharedKind[]): Promise<void> {
    const done: SharedKind[] = [];
    for (const kind of kinds) {
      const writers = this.writersOf(kind);
      writers.count -= 1;
      if (writers.count > 0) continue;
      writers.since = -Infinity;
      done.push(kind);
    }
    if (done.length > 0) await this.name(this.id, done).catch((error: unknown) => this.link.failed(error));
  }

  /** Whether the writers of this kind that are under way count for a new one, too. */
  private isNoted(kind: SharedKind): boolean {
    const { since, epoch } = this.writersOf(kind);
    return epoch === this.link.epoch && this.clock.steady() - since < RENEWED_MS;
  }

  private writersOf(kind: SharedKind): Writers {
    let writers = this.writers.get(kind);
    if (!writers) this.writers.set(kind, (writers = nobody()));
    return writers;
  }

  private name(id: string, kinds: readonly SharedKind[]): Promise<unknown> {
    return this.send('nameStates', kinds, id, randomUUID(), NAMES_MS);
  }

  private send(
    command: keyof StateCommands,
    kinds: readonly SharedKind[],
    ...args: (string | number)[]
  ): Promise<unknown> {
    const keys = [this.keys.versions(), ...kinds.map((kind) => this.keys.writers(kind))];
    return this.link.late.inTime(this.redis[command](keys.length, ...keys, ...args, ...kinds));
  }
}

function nobody(): Writers {
  return { count: 0, since: -Infinity, withdrawal: Promise.resolve(), epoch: -1 };
}
