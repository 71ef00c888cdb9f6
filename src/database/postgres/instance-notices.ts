import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { InstanceNotice } from './instance-notice.entity.js';
import type { SentCommit } from './late-commits.js';
import { codeOf } from './postgres-errors.js';
import type { SideSession } from './side-session.js';

const logger = new Logger('Database');

/** How often an instance that caches looks whether another writes unannounced, in milliseconds. */
const LOOK_MS = 250;
/** For how long a look counts from its begin, in milliseconds. */
const COUNTS_MS = 1_000;
/** How long a writer waits until no earlier look counts, in milliseconds; more, because clocks differ in speed. */
const WAIT_MS = 1_200;
/** How long after the last unannounced write its notice is kept, in milliseconds: writes come in groups. */
const KEPT_MS = 2_000;
/** How often an instance shows that it is alive, in milliseconds. */
const BEAT_MS = 3_000;
/** A notice that is unchanged for this time belongs to a dead instance, in milliseconds. */
const DEAD_MS = 15_000;

/** SQLSTATE of a missing table: before the first migration has run, nobody caches. */
const UNDEFINED_TABLE = '42P01';
const NOBODY_CACHES = '';

const GIVE = 'INSERT INTO instance_notices (id, says, beat) VALUES ($1, $2, 0)';
const ALL = 'SELECT id, says, beat FROM instance_notices';
const ONE = 'SELECT id FROM instance_notices WHERE id = $1';
const BEAT = 'UPDATE instance_notices SET beat = beat + 1 WHERE id = ANY($1)';
const TAKE_BACK = 'DELETE FROM instance_notices WHERE id = ANY($1)';
const REMOVE = 'DELETE FROM instance_notices WHERE id = $1 AND beat = $2';

/**
 * Warns the instances that cache by rows that this one writes without Redis: an instance that caches gives a notice and looks
 * four times a second whether anybody writes; a writer gives another, waits until every earlier look has expired, and makes sure
 * after each commit that its notice has been there until then. No clock is compared, and no session has to last.
 */
export class InstanceNotices {
  /** The notices of this instance. */
  private readonly own = new Map<InstanceNotice['says'], string>();
  /** Since when the notices of others have not changed, by `performance.now()`. */
  private seen = new Map<string, { readonly beat: number; readonly since: number }>();
  private begun: Promise<string> | undefined;
  private ending: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;
  private isCaching = false;
  private lookedAt = -Infinity;
  private beatenAt = -Infinity;
  private period = 0;
  private isClosed = false;

  /** `renewed` is awaited after each time in which another may have written unannounced, before anything is cached again. */
  constructor(
    private readonly session: SideSession,
    private readonly renewed: () => Promise<void> = () => Promise.resolve(),
  ) {}

  /** The number of the current period without an unannounced writer, as far as this process knows; undefined while one may write. */
  get quiet(): number | undefined {
    // An instance begins to look so often when it begins to cache.
    if (!this.isCaching) this.lookAfter(0);
    this.isCaching = true;
    return performance.now() - this.lookedAt < COUNTS_MS ? this.period : undefined;
  }

  /** Resolves, with what `confirm` is called with, when no instance caches anything any more, or begins to, until `end`. */
  begin(): Promise<string> {
    clearTimeout(this.ending);
    this.begun ??= this.prepare();
    const { begun } = this;
    begun.catch(() => {
      if (this.begun === begun) this.begun = undefined;
    });
    return begun;
  }

  /** To be called when a commit has just been sent. Resolves when it is done, and certain that this has been so until then. */
  async confirm(id: string, { done, ask }: SentCommit<unknown>): Promise<void> {
    const isThere = id !== NOBODY_CACHES && ask(ONE, [id]).then(({ length }) => length > 0, isFalse);
    await done;
    if (await isThere) return;
    // The first call that finds the notice gone writes a new one for all.
    if (id === NOBODY_CACHES || this.own.get('writes') === id) this.begun = undefined;
    if (id !== NOBODY_CACHES) await this.begin();
  }

  /** Instances may cache again, after a while. Never throws. */
  end(): void {
    clearTimeout(this.ending);
    this.ending = setTimeout(() => {
      this.begun = undefined;
      const id = this.own.get('writes');
      this.own.delete('writes');
      this.session.ask(TAKE_BACK, [[id]]).catch(() => undefined);
    }, KEPT_MS).unref();
  }

  /** Another server may have replaced the one that was asked. */
  renew(): void {
    this.lookedAt = -Infinity;
    this.session.renew();
  }

  /** Takes the notices back. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const timer of [this.ending, this.looking]) clearTimeout(timer);
    if (this.own.size > 0) await this.session.ask(TAKE_BACK, [[...this.own.values()]]).catch(() => undefined);
    await this.session.close();
  }

  private async prepare(): Promise<string> {
    const id = await this.give('writes').catch((error: unknown) => {
      if (codeOf(error) === UNDEFINED_TABLE) return NOBODY_CACHES;
      throw error;
    });
    if (id === NOBODY_CACHES) return id;
    const notices = await this.session.ask<InstanceNotice>(ALL);
    if (notices.some(({ id: one, says }) => says === 'caches' && one !== this.own.get('caches')))
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    return id;
  }

  private async give(says: InstanceNotice['says']): Promise<string> {
    const id = randomUUID();
    await this.session.ask(GIVE, [id, says]);
    this.own.set(says, id);
    if (!this.looking) this.lookAfter(BEAT_MS);
    return id;
  }

  private lookAfter(ms: number): void {
    clearTimeout(this.looking);
    if (!this.isClosed) this.looking = setTimeout(() => void this.look(), ms).unref();
  }

  /** Shows that this instance is alive, reads the notices of the others, and removes those of dead ones. */
  private async look(): Promise<void> {
    const since = performance.now();
    try {
      if (since - this.beatenAt >= BEAT_MS) {
        await this.session.ask(BEAT, [[...this.own.values()]]);
        this.beatenAt = since;
      }
      const notices = await this.session.ask<InstanceNotice>(ALL);
      await this.removeDead(notices, since);
      if (this.isCaching) await this.found(notices, since);
    } catch (error) {
      logger.debug(`Nothing is cached at the moment: ${String(error)}`);
    }
    this.lookAfter(this.isCaching ? LOOK_MS : BEAT_MS);
  }

  /** The result of a query that began then. */
  private async found(notices: readonly InstanceNotice[], since: number): Promise<void> {
    if (!notices.some(({ id }) => id === this.own.get('caches'))) await this.give('caches');
    else if (!notices.some(({ says }) => says === 'writes')) {
      // If two checks are further apart, a writer that waited may have written in between.
      if (performance.now() - this.lookedAt >= COUNTS_MS) {
        await this.renewed();
        this.period += 1;
      }
      this.lookedAt = since;
    }
  }

  private async removeDead(notices: readonly InstanceNotice[], now: number): Promise<void> {
    const { seen } = this;
    this.seen = new Map();
    for (const { id, beat } of notices) {
      const before = seen.get(id);
      const since = before?.beat === beat ? before.since : now;
      this.seen.set(id, { beat, since });
      if (now - since >= DEAD_MS) await this.session.ask(REMOVE, [id, beat]);
    }
  }
}

const isFalse = (): boolean => false;
