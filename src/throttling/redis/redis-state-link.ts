import { randomUUID } from 'node:crypto';
import type {
  SharedDataVersion,
  SharedKind,
  StateLink,
  StateNames,
} from '../../database/shared-data-version.js';
import type { RedisClient } from './redis-client.js';
import type { RedisKeys } from './redis-keys.js';
import type { RedisLink } from './redis-link.js';
import type { CachedStates } from './redis-quota-store.js';
import { NAME_SCRIPT, WITHDRAW_SCRIPT } from './redis-scripts.js';

/** For how long a writer that does not say that it is done counts, in milliseconds: longer than any commit may take. */
const WRITER_MS = 60_000;
/** How long names are kept that nobody asks for, in milliseconds. */
const NAMES_MS = 86_400_000;

interface StateCommands {
  withdrawStates(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
  nameStates(keyCount: number, ...keysAndArguments: (string | number)[]): Promise<unknown>;
}

/** Reports to the other instances through Redis that this one writes, and passes the names that they share to a data version. */
export class RedisStateLink implements StateLink, CachedStates {
  private readonly redis: RedisClient & StateCommands;

  constructor(
    private readonly link: RedisLink,
    private readonly keys: RedisKeys,
    private readonly version: SharedDataVersion,
  ) {
    link.redis.defineCommand('withdrawStates', { lua: WITHDRAW_SCRIPT });
    link.redis.defineCommand('nameStates', { lua: NAME_SCRIPT });
    this.redis = link.redis as RedisClient & StateCommands;
    version.attach(this);
    link.onFailure = () => version.lost();
    // A writer that died, or a Redis that is new, has left states without a name.
    link.onBeat = () => this.name('', version.kinds);
  }

  get kinds(): readonly SharedKind[] {
    return this.version.kinds;
  }

  /** Passes on names from a Redis that is used: they come with each decision there. */
  heard(names: StateNames): void {
    if (this.link.isUp) this.version.heard(names);
  }

  async withdraw(kinds: readonly SharedKind[], writer: string): Promise<() => boolean> {
    const { link } = this;
    if (!link.isUp) throw new Error('Redis is unavailable.');
    const { epoch } = link;
    try {
      await this.send('withdrawStates', kinds, writer, WRITER_MS);
    } catch (error) {
      link.failed(error);
      throw error;
    }
    // A Redis that is used after a failure may know nothing of it.
    return () => link.isUp && link.epoch === epoch;
  }

  async release(kinds: readonly SharedKind[], writer: string): Promise<void> {
    await this.name(writer, kinds).catch((error: unknown) => this.link.failed(error));
  }

  private name(writer: string, kinds: readonly SharedKind[]): Promise<unknown> {
    return this.send('nameStates', kinds, writer, randomUUID(), NAMES_MS);
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
