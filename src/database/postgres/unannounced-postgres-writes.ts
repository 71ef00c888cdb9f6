import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { RequestWaits } from '../request-waits.js';
import type { UnannouncedWrites } from '../shared-data-version.js';
import type { SideSession } from './side-session.js';

const logger = new Logger('Database');

/** How often a process that caches looks whether another writes unannounced, in milliseconds. */
const LOOK_MS = 250;
/** For how long a look counts from its begin, in milliseconds. */
const COUNTS_MS = 1_000;
/** How long a writer waits until no look of before counts any more, in milliseconds; more, because clocks differ in speed. */
const WAIT_MS = 1_200;
/** How long after the last unannounced write its lock is kept, in milliseconds: writes come in groups. */
const KEPT_MS = 2_000;

const numberOf = (name: string) => `hashtextextended('petstore ${name}', 0)`;
const WRITERS = numberOf('writes unannounced');
const CACHERS = numberOf('caches');

/** Statements of the locks; what they answer is a boolean. */
export const LOCKS = {
  beginWriting: `SELECT pg_advisory_lock_shared(${WRITERS}) IS NOT NULL AS answer`,
  endWriting: `SELECT pg_advisory_unlock_shared(${WRITERS}) AS answer`,
  isWritten: `SELECT NOT pg_try_advisory_xact_lock(${WRITERS}) AS answer`,
  beginCaching: `SELECT pg_advisory_lock_shared(${CACHERS}) IS NOT NULL AS answer`,
  isCached: `SELECT NOT pg_try_advisory_xact_lock(${CACHERS}) AS answer`,
} as const;

/**
 * Tells the instances that cache that this process writes without telling them through Redis, by locks in the database: whoever
 * caches holds one and looks four times a second whether anybody writes; whoever writes holds another, and waits until every
 * look of before has expired. Both are freed by the server when their process dies.
 */
export class UnannouncedPostgresWrites implements UnannouncedWrites {
  private begun: Promise<void> | undefined;
  private ending: NodeJS.Timeout | undefined;
  private timer: NodeJS.Timeout | undefined;
  private lookedAt = -Infinity;
  private isClosed = false;

  /** The sessions hold the locks of a process that writes, and of one that caches. */
  constructor(
    private readonly writing: SideSession,
    private readonly caching: SideSession,
    private readonly waits: RequestWaits,
  ) {}

  get isQuiet(): boolean {
    return performance.now() - this.lookedAt < COUNTS_MS;
  }

  watch(): void {
    void this.look();
  }

  begin(): Promise<void> {
    clearTimeout(this.ending);
    this.begun ??= this.prepare();
    const { begun } = this;
    begun.catch(() => {
      if (this.begun === begun) this.begun = undefined;
    });
    return this.waits.bounded(begun);
  }

  /** Takes the locks anew: another server may be in the place of the one that has them. */
  renew(): void {
    this.begun = undefined;
    this.lookedAt = -Infinity;
    this.writing.renew();
    this.caching.renew();
  }

  end(): void {
    clearTimeout(this.ending);
    this.ending = setTimeout(() => {
      this.begun = undefined;
      // A session that is lost has freed the lock already.
      if (!this.isClosed) this.writing.ask(LOCKS.endWriting).catch(() => undefined);
    }, KEPT_MS);
    // The timer alone must not keep the process running.
    this.ending.unref();
  }

  /** Frees the locks. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.ending);
    await Promise.all([this.writing.close(), this.caching.close()]);
  }

  private async prepare(): Promise<void> {
    await this.writing.ask(LOCKS.beginWriting);
    if (await this.writing.ask(LOCKS.isCached)) await pause(WAIT_MS);
  }

  private async look(): Promise<void> {
    const since = performance.now();
    try {
      if (!(await this.caching.ask(LOCKS.isWritten))) this.lookedAt = since;
    } catch (error) {
      logger.debug(`Nothing is cached for the moment: ${String(error)}`);
    }
    if (this.isClosed) return;
    this.timer = setTimeout(() => void this.look(), LOOK_MS);
    // The timer alone must not keep the process running.
    this.timer.unref();
  }
}
