import type { Clock } from '../../core/time/clock.js';
import { BAN_RULES, type BanRules, RefusedKeys, heldToLength, recordRefusal } from '../bans.js';
import { QuotaStore } from '../quota-store.js';
import {
  DAY_MS,
  MINUTE_MS,
  type QuotaRequest,
  type QuotaVerdict,
  type QuotaWindow,
  type WindowState,
  retryAtOf,
} from '../quota.js';
import { ClientCounts, CompactKeys, WindowCounts } from './current-counts.js';
import { type BanChange, type QuotaJournal, UnsavedChanges } from './quota-journal.js';

/**
 * Counts in the memory of this process; with a journal, bans and the counts of clients survive a restart. ClientCounts holds the
 * minute and day of clients; WindowCounts holds windows of addresses and routes, which are never written.
 */
export class MemoryQuotaStore extends QuotaStore {
  /** What is not in the journal yet. */
  readonly unsaved = new UnsavedChanges();
  private readonly clients = new ClientCounts();
  private readonly others = new Map<number, WindowCounts>();
  private readonly refused: RefusedKeys;
  private readonly keys = new CompactKeys();
  private readonly loading = new Map<string, Promise<void>>();
  /** Time of the last request. A request that had to wait for the journal is decided at this time, not at its own earlier one. */
  private lastNow = 0;

  constructor(
    clock: Clock,
    private readonly journal?: QuotaJournal,
    private readonly rules: BanRules = BAN_RULES,
  ) {
    super(clock);
    this.refused = new RefusedKeys(rules.resetMs + Math.max(...rules.ladderMs));
  }

  take(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict> {
    this.turnTo(now);
    const loading = this.journal && this.load(request, this.journal);
    return loading ? loading.then(() => this.take(request, this.lastNow)) : this.decide(request, now);
  }

  peek(request: QuotaRequest, now: number): QuotaVerdict | Promise<QuotaVerdict> {
    this.turnTo(now);
    const loading = this.journal && this.load(request, this.journal);
    return loading ? loading.then(() => this.peek(request, this.lastNow)) : this.look(request, now);
  }

  async unban(keyId: string, _subjectId: string, now: number): Promise<void> {
    this.forgetBan(keyId);
    await this.journal?.lift(keyId, now);
  }

  /** Drops a key's strikes and ban because another process lifted them. */
  forgetBan(keyId: string): void {
    this.refused.forget(keyId);
    this.unsaved.forgetBan(keyId);
  }

  /** Puts in strikes and bans that the journal kept over a restart. */
  restoreBans(bans: readonly BanChange[], now: number): void {
    for (const { keyId, state } of bans)
      this.refused.restore(keyId, heldToLength(state, now, this.rules), now);
  }

  override clockStepped(by: number): void {
    for (const [keyId, state] of this.refused.moveWithClock(by))
      if (this.journal) this.unsaved.noteBan(keyId, state);
  }

  private turnTo(now: number): void {
    this.lastNow = now;
    this.clients.turnTo(now);
  }

  private decide(request: QuotaRequest, now: number): QuotaVerdict {
    const verdict = this.look(request, now);
    if (verdict.bannedUntil !== undefined) return verdict;
    if (!verdict.admitted) return request.keyId === undefined ? verdict : this.refuse(request.keyId, verdict);
    let index = 0;
    for (const window of request.windows) {
      const state = verdict.windows[index] as { used: number; remaining: number } & WindowState;
      state.used += 1;
      state.remaining -= 1;
      this.count(request, window, state.used);
      index += 1;
    }
    return verdict;
  }

  private look(request: QuotaRequest, now: number): QuotaVerdict {
    const { windows, keyId, subject, isClient } = request;
    const at = isClient ? this.clients.find(subject) : undefined;
    const states: WindowState[] = [];
    let admitted = true;
    for (const window of windows) {
      const state = this.stateOf(window, isOwn(window, request), at, now);
      if (state.remaining === 0) admitted = false;
      states.push(state);
    }
    const bannedUntil = keyId === undefined ? 0 : (this.refused.find(keyId)?.bannedUntil ?? 0);
    if (bannedUntil > now) return { admitted: false, at: now, windows: states, bannedUntil };
    return { admitted, at: now, windows: states };
  }

  private stateOf(window: QuotaWindow, own: boolean, at: number | undefined, now: number): WindowState {
    const { key, name, limit, lengthMs } = window;
    const { clients } = this;
    let used = 0;
    let start: number;
    if (!own) {
      const counts = this.othersOf(lengthMs);
      counts.turnTo(now);
      used = counts.of(key);
      start = counts.start;
    } else if (lengthMs === DAY_MS) {
      if (at !== undefined) used = clients.dayUsed(at);
      start = clients.dayStart;
    } else {
      if (at !== undefined) used = clients.minuteUsed(at);
      start = clients.minuteStart;
    }
    const remaining = used < limit ? limit - used : 0;
    return { name, limit, lengthMs, used, remaining, resetsAt: start + lengthMs };
  }

  private count(request: QuotaRequest, window: QuotaWindow, used: number): void {
    const { key, lengthMs } = window;
    if (!isOwn(window, request)) {
      this.othersOf(lengthMs).set(used === 1 ? this.keys.of(key) : key, used);
      return;
    }
    const { clients } = this;
    const at = clients.find(key) ?? clients.add(this.keys.of(key));
    if (lengthMs === MINUTE_MS) {
      clients.setMinute(at, used);
      return;
    }
    clients.setDay(at, used);
    if (this.journal) this.unsaved.noteCount(key, clients.minuteStart, clients.dayStart);
  }

  private refuse(keyId: string, verdict: QuotaVerdict): QuotaVerdict {
    const state = this.refused.touch(keyId, verdict.at);
    recordRefusal(state, verdict.at, retryAtOf(verdict), this.rules);
    if (this.journal) this.unsaved.noteBan(keyId, state);
    const { bannedUntil } = state;
    return bannedUntil > verdict.at ? { ...verdict, bannedUntil, banBegins: true } : verdict;
  }

  private othersOf(lengthMs: number): WindowCounts {
    let counts = this.others.get(lengthMs);
    if (!counts) {
      counts = new WindowCounts(lengthMs);
      this.others.set(lengthMs, counts);
    }
    return counts;
  }

  /** Reads the counts of a client from the journal at its first request of the day; undefined when they are known already. */
  private load(request: QuotaRequest, journal: QuotaJournal): Promise<void> | undefined {
    const { subject, isClient, windows } = request;
    if (!isClient || this.clients.knowsDay(this.clients.find(subject))) return undefined;
    if (!windows.some((window) => window.lengthMs === DAY_MS && isOwn(window, request))) return undefined;
    // Concurrent requests of one client share one read.
    const running = this.loading.get(subject);
    if (running) return journal.bounded(running);
    const reading = this.read(subject, journal).finally(() => this.loading.delete(subject));
    this.loading.set(subject, reading);
    return reading;
  }

  private async read(subject: string, journal: QuotaJournal): Promise<void> {
    const { clients } = this;
    const { minuteStart, dayStart } = clients;
    const used = await journal.used(subject, minuteStart, dayStart);
    if (clients.dayStart !== dayStart) return;
    const at = clients.find(subject) ?? clients.add(this.keys.of(subject));
    if (clients.knowsDay(at)) return;
    clients.setDay(at, used.day);
    if (clients.minuteStart === minuteStart) clients.setMinute(at, clients.minuteUsed(at) + used.minute);
  }
}

/** Whether the window is the client's own minute or day. */
function isOwn({ key, lengthMs }: QuotaWindow, { subject, isClient }: QuotaRequest): boolean {
  return isClient && key === subject && (lengthMs === MINUTE_MS || lengthMs === DAY_MS);
}
