import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';

/** Start of the UTC minute or day that contains a time, in ms since the Unix epoch. */
export function startOf(instant: number, lengthMs: number): number {
  return Math.floor(instant / lengthMs) * lengthMs;
}

/** Whose requests are counted together: a client, or an address without a valid key. */
export interface QuotaSubject {
  /** Unique among all subjects, such as `client:…` or `address:…`. */
  readonly id: string;
  /** Plan of the client, or `anonymous`: a label for metrics. */
  readonly plan: string;
  /** The API key that was sent: bans belong to keys, counts to clients. */
  readonly keyId?: string;
  /** The client of that key, unless `id` identifies it. */
  readonly clientId?: string;
  readonly perMinute: number;
  /** Absent if there is no daily limit. */
  readonly perDay?: number;
}

/** A fixed window, aligned to the UTC calendar. */
export interface QuotaWindow {
  /** Requests with the same key are counted together: the subject's id, with a suffix for a window of one route. */
  readonly key: string;
  /** Name in `RateLimit-Policy`, such as `minute` or `day`. */
  readonly name: string;
  /** Requests allowed per window. */
  readonly limit: number;
  /** Length in milliseconds. */
  readonly lengthMs: number;
}

/** A request to decide. */
export interface QuotaRequest {
  /** Id of the subject, such as `client:…`. All its Redis keys start with it. */
  readonly subject: string;
  /** Whether the subject is a client, whose counts are written to the journal, rather than an address. */
  readonly isClient: boolean;
  /** The request is admitted only if all have room, and then counts in all of them. */
  readonly windows: readonly QuotaWindow[];
  /** The API key that gets strikes and bans; absent without a valid key. */
  readonly keyId?: string | undefined;
}

/** The windows of a subject: its minute and, with a daily limit, its day. */
export function windowsOf(subject: QuotaSubject): QuotaWindow[] {
  const minute = { key: subject.id, name: 'minute', limit: subject.perMinute, lengthMs: MINUTE_MS };
  if (subject.perDay === undefined) return [minute];
  return [minute, { key: subject.id, name: 'day', limit: subject.perDay, lengthMs: DAY_MS }];
}

/** A request of a subject, by default in the subject's own windows. */
export function requestOf(subject: QuotaSubject, windows = windowsOf(subject)): QuotaRequest {
  return { subject: subject.id, isClient: subject.perDay !== undefined, windows, keyId: subject.keyId };
}

/** The state of a window after a decision. */
export interface WindowState {
  readonly name: string;
  readonly limit: number;
  readonly lengthMs: number;
  /** Requests counted in it, including this one; may exceed the limit after a downgrade. */
  readonly used: number;
  /** Requests left after this one. */
  readonly remaining: number;
  /** When the window ends and the full limit is available again, in ms since the Unix epoch. */
  readonly resetsAt: number;
}

/** The decision on a request. Headers, body, logs and metrics all derive from it. */
export interface QuotaVerdict {
  readonly admitted: boolean;
  /** Time of the decision, in ms since the Unix epoch. */
  readonly at: number;
  /** In the order of the requested windows. */
  readonly windows: readonly WindowState[];
  /** End of the key's ban in ms since the Unix epoch, if that is the reason for the refusal. */
  readonly bannedUntil?: number;
  /** Set only for the request that starts the ban. */
  readonly banBegins?: true;
}

/** The window to report to the client: the window with the fewest remaining requests or, if equal, the window that resets later. */
function tightestWindow(windows: readonly WindowState[]): WindowState | undefined {
  let tightest: WindowState | undefined;
  for (const window of windows)
    if (
      !tightest ||
      window.remaining < tightest.remaining ||
      (window.remaining === tightest.remaining && resetsLater(window, tightest))
    )
      tightest = window;
  return tightest;
}

/** When a refused request can be retried, in ms since the Unix epoch. */
export function retryAtOf(verdict: QuotaVerdict): number {
  return verdict.bannedUntil ?? violatedWindow(verdict)?.resetsAt ?? verdict.at;
}

/** After a refusal, the full window that resets last, which is the one to wait for. */
export function violatedWindow({ admitted, windows }: QuotaVerdict): WindowState | undefined {
  if (admitted) return undefined;
  const tightest = tightestWindow(windows);
  return tightest?.remaining === 0 ? tightest : undefined;
}

function resetsLater(a: WindowState, b: WindowState): boolean {
  return a.resetsAt === b.resetsAt ? a.lengthMs > b.lengthMs : a.resetsAt > b.resetsAt;
}

/** The label of a verdict in metrics. */
export function labelOf({ admitted, bannedUntil }: QuotaVerdict): string {
  if (admitted) return 'admitted';
  return bannedUntil === undefined ? 'refused' : 'banned';
}

/**
 * The rate-limit headers of a verdict: the specification's `X-RateLimit-*` for the tightest window, both windows in the IETF format
 * (draft-ietf-httpapi-ratelimit-headers), and `Retry-After` on a refusal.
 */
export function quotaHeaders(verdict: QuotaVerdict): Record<string, string> {
  const windows = windowsForKey(verdict);
  // After a refusal, this is the full window that resets last, so that waiting for it is enough.
  const shown = tightestWindow(windows);
  if (!shown) return {};
  let [policy, state] = ['', ''];
  for (const window of windows) {
    const separator = policy === '' ? '' : ', ';
    policy += separator + policyOf(window);
    state += separator + stateOf(window, verdict.at);
  }
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetsAt / 1000)),
    'RateLimit-Policy': policy,
    RateLimit: state,
  };
  if (!verdict.admitted) headers['Retry-After'] = String(secondsUntil(shown.resetsAt, verdict.at));
  return headers;
}

/** The windows from the key's point of view: while it is banned, none has requests left until the ban ends. */
function windowsForKey({ windows, bannedUntil }: QuotaVerdict): readonly WindowState[] {
  if (bannedUntil === undefined) return windows;
  return windows.map((window) => ({ ...window, remaining: 0, resetsAt: bannedUntil }));
}

function policyOf(window: WindowState): string {
  return `"${window.name}";q=${window.limit};w=${window.lengthMs / 1000}`;
}

function stateOf(window: WindowState, now: number): string {
  return `"${window.name}";r=${window.remaining};t=${secondsUntil(window.resetsAt, now)}`;
}

/** Whole seconds, rounded up and at least 1, so that waiting that long is always enough. */
function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}
