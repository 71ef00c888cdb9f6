import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../core/time/clock.js';
import { CacheNeutralWrites } from '../../database/cache-neutral-writes.js';
import { runForRows } from '../../database/rows-as-json.js';
import { WriteBehind } from '../../database/write-behind.js';

/** Least time between two writes of one key's last use, in milliseconds. */
const BETWEEN_WRITINGS_MS = 60_000;

/** A use that another process wrote less than a minute ago is kept, unless the clock was set back since. */
const PUT = (rows: string): string => `
  UPDATE api_keys SET last_used_at = value ->> 'usedAt' FROM ${rows} AS used
  WHERE api_keys.id = value ->> 'keyId' AND (last_used_at IS NULL OR last_used_at <= :before OR last_used_at > :after)`;

/** Writes when each key was last used: at most once a minute per key, and in the background, so that no request waits for it. */
@Injectable()
export class KeyUseService extends WriteBehind {
  /** Uses to write, now or when the last write of their key is a minute ago. */
  private readonly uses = new Map<string, number>();
  /** When keys were last written, by the steady clock, oldest first. */
  private readonly written = new Map<string, number>();

  constructor(
    private readonly cacheNeutralWrites: CacheNeutralWrites,
    private readonly clock: Clock,
  ) {
    super(new Logger('Keys'), { failing: 'The last use of keys cannot be written; it is kept in memory' });
  }

  /** Notes that a key was used now; costs a look-up in memory. */
  note(keyId: string): void {
    this.uses.set(keyId, this.clock.now());
  }

  /** Keys whose last use was written less than a minute ago are left out, at the stop too. */
  protected override async write(): Promise<void> {
    const [now, steady] = [this.clock.now(), this.clock.steady()];
    for (const [keyId, writtenAt] of this.written) {
      if (writtenAt > steady - BETWEEN_WRITINGS_MS) break;
      this.written.delete(keyId);
    }
    const due = [...this.uses].filter(([keyId]) => !this.written.has(keyId));
    if (due.length === 0) return;
    for (const [keyId] of due) {
      this.uses.delete(keyId);
      this.written.set(keyId, steady);
    }
    try {
      const rows = due.map(([keyId, usedAt]) => ({ keyId, usedAt: isoOf(usedAt) }));
      const between = { before: isoOf(now - BETWEEN_WRITINGS_MS), after: isoOf(now + BETWEEN_WRITINGS_MS) };
      await this.cacheNeutralWrites.run((manager) => runForRows(manager, rows, PUT, between));
    } catch (error) {
      for (const [keyId, usedAt] of due) {
        this.written.delete(keyId);
        if (!this.uses.has(keyId)) this.uses.set(keyId, usedAt);
      }
      throw error;
    }
  }
}

function isoOf(instant: number): string {
  return new Date(instant).toISOString();
}
