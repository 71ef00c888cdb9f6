import { Injectable } from '@nestjs/common';
import { Clock } from '../clock.js';
import { CommittedState } from '../database/committed-state.js';
import type { ApiKey } from './api-key.entity.js';

/** How long a verified key is remembered at most, in milliseconds. */
const REMEMBERED_MS = 5_000;
/** Keys that are remembered at most; then the one that was remembered first is forgotten. */
const MOST = 10_000;

interface Remembered {
  readonly key: ApiKey;
  readonly state: number | undefined;
  readonly at: number;
}

/**
 * Remembers verified keys with their clients for at most 5 seconds. Where the database can tell that nothing was
 * committed, what is remembered is exact; any commit, such as a revocation by another process, makes it void at once.
 */
@Injectable()
export class KeyMemory {
  private readonly keys = new Map<string, Remembered>();

  constructor(
    private readonly committed: CommittedState,
    private readonly clock: Clock,
  ) {}

  /** The state to remember a key with; ask before the key is read. */
  state(): number | undefined {
    return this.committed.current('keys');
  }

  /** The key with this digest, if it is remembered from the state that the database is in now, and has not ended. */
  recall(digest: string): ApiKey | undefined {
    const remembered = this.keys.get(digest);
    if (!remembered) return undefined;
    const now = this.clock.now();
    const { key, state, at } = remembered;
    const isExact = state === this.state() && now - at < REMEMBERED_MS && now >= at;
    if (isExact && (key.expiresAt === null || Date.parse(key.expiresAt) > now)) return key;
    this.keys.delete(digest);
    return undefined;
  }

  /** Remembers a key that was verified, read after the state was asked. */
  remember(key: ApiKey, state: number | undefined): void {
    this.keys.delete(key.digest);
    this.keys.set(key.digest, { key, state, at: this.clock.now() });
    if (this.keys.size <= MOST) return;
    for (const oldest of this.keys.keys()) {
      this.keys.delete(oldest);
      break;
    }
  }
}
