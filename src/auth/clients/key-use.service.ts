import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../core/time/clock.js';
import { CacheNeutralWrites } from '../../database/cache-neutral-writes.js';
import { WriteBehind } from '../../database/write-behind.js';
import { ApiKey } from './api-key.entity.js';

/** Least time between two writes of one key's last use, in milliseconds. */
const BETWEEN_WRITINGS_MS = 60_000;
/** Keys per statement, well below the number of parameters that SQLite and PostgreSQL allow. */
const BATCH = 500;

/** Writes when each key was last used: at most once a minute per key, and in the background, so that no request waits for it. */
@Injectable()
export class KeyUseService extends WriteBehind {
  /** Uses to write next time, and uses that wait because their key was written less than a minute ago. */
  private due = new Map<string, number>();
  private readonly waiting = new Map<string, number>();
  /** When keys were last written, by the steady clock, oldest first. */
  private readonly written = new Map<string, number>();

  constructor(
    private readonly cacheNeutralWrites: CacheNeutralWrites,
    private readonly clock: Clock,
  ) {
    super(new Logger('Keys'), { failing: 'The last use of keys cannot be written; it is kept in memory' });
  }

  /** Notes that a key was used now; costs two look-ups in memory. */
  note(keyId: string): void {
    (this.written.has(keyId) ? this.waiting : this.due).set(keyId, this.clock.now());
  }

  /** Keys whose last use was written less than a minute ago are left out, at the stop too. */
  protected override async write(): Promise<void> {
    const now = this.clock.now();
    const steady = this.clock.steady();
    this.turn(steady);
    if (this.due.size === 0) return;
    const uses = [...this.due];
    this.due = new Map();
    for (const [keyId] of uses) this.written.set(keyId, steady);
    try {
      await this.cacheNeutralWrites.run(async (manager) => {
        for (let at = 0; at < uses.length; at += BATCH) await put(manager, uses.slice(at, at + BATCH), now);
      });
    } catch (error) {
      for (const [keyId, usedAt] of uses) {
        this.written.delete(keyId);
        // A later use is in `waiting`, because the key was already counted as written.
        this.due.set(keyId, this.waiting.get(keyId) ?? usedAt);
        this.waiting.delete(keyId);
      }
      throw error;
    }
  }

  /** Moves uses from `waiting` to `due` once their key was written a minute ago. */
  private turn(steady: number): void {
    for (const [keyId, writtenAt] of this.written) {
      if (writtenAt > steady - BETWEEN_WRITINGS_MS) break;
      this.written.delete(keyId);
      const usedAt = this.waiting.get(keyId);
      if (usedAt === undefined) continue;
      this.waiting.delete(keyId);
      this.due.set(keyId, usedAt);
    }
  }
}

/** One statement. A use that another process wrote less than a minute ago is kept, unless the clock was set back since. */
async function put(
  manager: EntityManager,
  uses: readonly (readonly [string, number])[],
  now: number,
): Promise<void> {
  const cases = uses.map((_, index) => `WHEN :key${index} THEN :used${index}`).join(' ');
  const parameters = uses.flatMap(([keyId, usedAt], index) => [
    [`key${index}`, keyId],
    [`used${index}`, isoOf(usedAt)],
  ]);
  await manager
    .createQueryBuilder()
    .update(ApiKey)
    .set({ lastUsedAt: () => `CASE id ${cases} ELSE last_used_at END` })
    .where('id IN (:...ids)', { ids: uses.map(([keyId]) => keyId) })
    .andWhere('(last_used_at IS NULL OR last_used_at <= :before OR last_used_at > :after)', {
      before: isoOf(now - BETWEEN_WRITINGS_MS),
      after: isoOf(now + BETWEEN_WRITINGS_MS),
    })
    .setParameters(Object.fromEntries(parameters) as Record<string, string>)
    .execute();
}

function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}
