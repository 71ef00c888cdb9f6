import { DAY_MS, MINUTE_MS } from '../core/time/duration.js';

/** Start of the UTC minute or day that an instant is in; all in ms, instants since the Unix epoch. */
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
  /** The client of that key, if it does not follow from `id`. */
  readonly clientId?: string;
  readonly perMinute: number;
  /** Absent: no daily limit. */
  readonly perDay?: number;
}

/** One fixed window, aligned to the UTC calendar, that a request must find room in. */
export interface QuotaWindow {
  /** Requests with the same key are counted together: the subject's id, with a suffix for a window of one route. */
  readonly key: string;
  /** Name in `RateLimit-Policy`, such as `minute` or `day`. */
  readonly name: string;
  /** Requests allowed in one window. */
  readonly limit: number;
  /** Length in milliseconds. */
  readonly lengthMs: number;
}

/** One request to decide. */
export interface QuotaRequest {
  /** Id of the subject, such as `client:…`. Redis keeps everything of one subject under names that begin with it. */
  readonly subject: string;
  /** True for a client, whose counts are written to the journal; false for an address. */
  readonly isClient: boolean;
  /** The request is admitted only if all have room, and then counts in all of them. */
  readonly windows: readonly QuotaWindow[];
  /** The API key that strikes are counted for; absent without a valid key, and then nothing is banned. */
  readonly keyId?: string | undefined;
}

/** The windows of a subject: its minute, and its day if it has a daily limit. */
export function windowsOf(subject: QuotaSubject): QuotaWindow[] {
  const minute = { key: subject.id, name: 'minute', limit: subject.perMinute, lengthMs: MINUTE_MS };
  if (subject.perDay === undefined) return [minute];
  return [minute, { key: subject.id, name: 'day', limit: subject.perDay, lengthMs: DAY_MS }];
}

/** One request of a subject, in its own windows unless others are given. */
export function requestOf(subject: QuotaSubject, windows = windowsOf(subject)): QuotaRequest {
  return { subject: subject.id, isClient: subject.perDay !== undefined, windows, keyId: subject.keyId };
}

/** What a decision found in one window. */
export interface WindowState {
  readonly name: string;
  readonly limit: number;
  readonly lengthMs: number;
  /** Requests counted in it, this one included; may exceed the limit after a change to a smaller plan. */
  readonly used: number;
  /** Requests left after this one. */
  readonly remaining: number;
  /** When the window ends and the full limit is available again, in ms since the Unix epoch. */
  readonly resetsAt: number;
}

/** The decision on one request; headers, body, logs and metrics are all derived from this value. */
export interface QuotaVerdict {
  readonly admitted: boolean;
  /** When it was decided, in ms since the Unix epoch. */
  readonly at: number;
  /** In the order of the windows that were asked for. */
  readonly windows: readonly WindowState[];
  /** End of the key's ban, in ms since the Unix epoch, when that is why it was refused. */
  readonly bannedUntil?: number;
  /** Set on the one request with which the ban begins. */
  readonly banBegins?: true;
}

/** The window to report to the client: the one with the fewest remaining requests; on a tie the one that resets later. */
function tightestWindow(windows: readonly WindowState[]): WindowState | undefined {
  return windows.toSorted((a, b) => a.remaining - b.remaining || laterResetFirst(a, b))[0];
}

/** When a refused request may come again, in ms since the Unix epoch. */
export function retryAtOf(verdict: QuotaVerdict): number {
  return verdict.bannedUntil ?? violatedWindow(verdict)?.resetsAt ?? verdict.at;
}

/** After a refusal, the full window that resets last: the one to wait for. */
export function violatedWindow({ admitted, windows }: QuotaVerdict): WindowState | undefined {
  return admitted
    ? undefined
    : windows.filter(({ remaining }) => remaining === 0).toSorted(laterResetFirst)[0];
}

function laterResetFirst(a: WindowState, b: WindowState): number {
  return b.resetsAt - a.resetsAt || b.lengthMs - a.lengthMs;
}

/** What metrics call a verdict. */
export function labelOf({ admitted, bannedUntil }: QuotaVerdict): string {
  if (admitted) return 'admitted';
  return bannedUntil === undefined ? 'refused' : 'banned';
}

/**
 * The rate-limit headers of a verdict: the specification's `X-RateLimit-*` for the one window that matters,
 * both windows in the IETF form (draft-ietf-httpapi-ratelimit-headers), `Retry-After` on a refusal.
 */
export function quotaHeaders(verdict: QuotaVerdict): Record<string, string> {
  const windows = windowsForKey(verdict);
  // After a refusal this is the full window that resets last, so that waiting for it is enough.
  const shown = tightestWindow(windows);
  if (!shown) return {};
  const headers: Record<string, string> = {
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetsAt / 1000)),
    'RateLimit-Policy': windows.map(policyOf).join(', '),
    RateLimit: windows.map((window) => stateOf(window, verdict.at)).join(', '),
  };
  if (!verdict.admitted) headers['Retry-After'] = String(secondsUntil(shown.resetsAt, verdict.at));
  return headers;
}

/** The windows as the key sees them: while it is banned, all are empty until the ban ends, whatever its client has left. */
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
