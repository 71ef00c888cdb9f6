import type { Clock } from '../../core/time/clock.js';
import { BAN_RULES, type BanRules, RefusedKeys, clampLength, neverRefused, recordRefusal } from '../bans.js';
import { QuotaStore } from '../quota-store.js';
import { DAY_MS, MINUTE_MS } from '../../core/time/duration.js';
import {
  type QuotaRequest,
  type QuotaVerdict,
  type QuotaWindow,
  type WindowState,
  retryAtOf,
} from '../quota.js';
import { ClientCounts, WindowCounts } from './current-counts.js';
import type { KeyBanState, QuotaJournal } from './quota-journal.js';

/**
 * Counts in this process's memory. With a journal, bans and the clients' minutes and days survive a restart. Windows of addresses and
 * routes are never stored.
 */
export class MemoryQuotaStore extends QuotaStore {
  private readonly clients: ClientCounts;
  /** Windows of addresses and routes, by length. */
  private readonly others = new Map<number, WindowCounts>();
  private readonly refused: RefusedKeys;
  private readonly loading = new Map<string, Promise<void>>();

  constructor(
    clock: Clock,
    private readonly journal?: QuotaJournal,
    private readonly rules: BanRules = BAN_RULES,
  ) {
    super(clock);
    if (journal) journal.holder = this;
    this.clients = new ClientCounts(journal !== undefined);
    this.refused = new RefusedKeys(rules);
  }

  take(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict> {
    this.clients.advanceTo(now);
    const loading = this.journal && this.load(request, this.journal);
    return loading
      ? this.afterWait(loading, now).then((later) => this.take(request, later))
      : this.decide(request, now);
  }

  peek(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict> {
    this.clients.advanceTo(now);
    const loading = this.journal && this.load(request, this.journal);
    return loading
      ? this.afterWait(loading, now).then((later) => this.peek(request, later))
      : this.findViolated(request, now);
  }

  async unban(keyId: string, _subjectId: string, now: number): Promise<void> {
    this.forgetBan(keyId);
    await this.journal?.lift(keyId, now);
  }

  /** Drops a key's strikes and ban. */
  forgetBan(keyId: string): void {
    this.refused.forget(keyId);
    this.journal?.forgetBan(keyId);
  }

  /** Restores strikes and bans from the journal after a restart. */
  restoreBans(bans: readonly KeyBanState[], now: number): void {
    for (const { keyId, state } of bans) this.refused.set(keyId, clampLength(state, now, this.rules), now);
  }

  /** The time of a request that waited for the journal, because a window may have ended in the meantime. */
  private async afterWait(loading: Promise<void>, now: number): Promise<number> {
    const startedAt = this.clock.steady();
    await loading;
    return now + Math.floor(this.clock.steady() - startedAt);
  }

  private decide(request: QuotaRequest, now: number): QuotaVerdict {
    const verdict = this.findViolated(request, now);
    if (!verdict.admitted) return request.keyId === undefined ? verdict : this.refuse(request.keyId, verdict);
    const own = request.isClient ? this.clients.of(request.subject) : undefined;
    const { minute, day } = this.clients.windows;
    for (const [index, window] of request.windows.entries()) {
      const state = verdict.windows[index] as { used: number; remaining: number } & WindowState;
      const length = own && ownLengthOf(window, request);
      if (!own || !length) this.othersOf(window, now).add(window.key, state.used);
      else own[length] = state.used + 1;
      if (length === 'day') this.journal?.noteCount(window.key, minute.start, day.start);
      state.used += 1;
      state.remaining -= 1;
    }
    return verdict;
  }

  private findViolated(request: QuotaRequest, now: number): QuotaVerdict {
    const states: WindowState[] = [];
    const own = request.isClient ? this.clients.find(request.subject) : undefined;
    let admitted = true;
    for (const window of request.windows) {
      const { key, name, limit, lengthMs } = window;
      const length = ownLengthOf(window, request);
      const used = length ? (own?.[length] ?? 0) : this.othersOf(window, now).of(key);
      const { start } = length ? this.clients.windows[length] : this.othersOf(window, now).window;
      const remaining = used < limit ? limit - used : 0;
      if (remaining === 0) admitted = false;
      states.push({ name, limit, lengthMs, used, remaining, resetsAt: start + lengthMs });
    }
    const { keyId } = request;
    const bannedUntil = keyId === undefined ? 0 : (this.refused.find(keyId)?.bannedUntil ?? 0);
    if (bannedUntil > now) return { admitted: false, at: now, windows: states, bannedUntil };
    return { admitted, at: now, windows: states };
  }

  /** The counts of a window of an address or route. */
  private othersOf({ lengthMs }: QuotaWindow, now: number): WindowCounts {
    let counts = this.others.get(lengthMs);
    if (!counts) this.others.set(lengthMs, (counts = new WindowCounts(lengthMs)));
    counts.advanceTo(now);
    return counts;
  }

  private refuse(keyId: string, verdict: QuotaVerdict): QuotaVerdict {
    const { at } = verdict;
    // The clock may have been set back since the key was last refused.
    const state = clampLength(this.refused.find(keyId) ?? neverRefused(), at, this.rules);
    if (verdict.bannedUntil === undefined) recordRefusal(state, at, retryAtOf(verdict), this.rules);
    else if (state.bannedUntil === verdict.bannedUntil) return verdict;
    this.refused.set(keyId, state, at);
    this.journal?.noteBan(keyId, state);
    const { bannedUntil } = state;
    if (verdict.bannedUntil !== undefined) return { ...verdict, bannedUntil };
    return bannedUntil > at ? { ...verdict, bannedUntil, banBegins: true } : verdict;
  }

  /** Reads the counts of a client from the journal at its first request of the day; undefined if they are already known. */
  private load(request: QuotaRequest, journal: QuotaJournal): Promise<void> | undefined {
    const { subject, isClient, windows } = request;
    if (!isClient || this.clients.find(subject)?.day !== undefined) return undefined;
    if (!windows.some((window) => ownLengthOf(window, request) === 'day')) return undefined;
    // Concurrent requests of one client share a read.
    const running = this.loading.get(subject);
    if (running) return running;
    const reading = this.read(subject, journal).finally(() => this.loading.delete(subject));
    this.loading.set(subject, reading);
    return reading;
  }

  private async read(subject: string, journal: QuotaJournal): Promise<void> {
    const { minute, day } = this.clients.windows;
    const [minuteStart, dayStart] = [minute.start, day.start];
    const used = await journal.used(subject, minuteStart, dayStart);
    const own = this.clients.of(subject);
    if (day.start !== dayStart || own.day !== undefined) return;
    own.day = used.day;
    if (minute.start === minuteStart) own.minute += used.minute;
  }
}

/** The length if it is one of the client's own windows. */
function ownLengthOf(
  { key, lengthMs }: QuotaWindow,
  { subject, isClient }: QuotaRequest,
): 'minute' | 'day' | undefined {
  if (!isClient || key !== subject) return undefined;
  if (lengthMs === MINUTE_MS) return 'minute';
  return lengthMs === DAY_MS ? 'day' : undefined;
}
