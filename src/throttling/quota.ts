/** One minute in milliseconds. */
export const MINUTE_MS = 60_000;
/** One day in milliseconds. */
export const DAY_MS = 86_400_000;

/** Whose requests are counted together: a client, or an address without a valid key. */
export interface QuotaSubject {
  /** Unique among all subjects, such as `client:…` or `address:…`. */
  readonly id: string;
  /** Plan of the client, or `anonymous`: a label for metrics. */
  readonly plan: string;
  /** The API key that was sent; a ban is the key's. */
  readonly keyId?: string;
  readonly perMinute: number;
  /** Absent: no daily limit. */
  readonly perDay?: number;
}

/** One fixed window, aligned to the UTC calendar, that a request must find room in. */
export interface QuotaWindow {
  /** What counts together in this window: the subject's id, and what follows it for a window of a route. */
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
  /** Id of the subject, such as `client:…`: what is kept of one subject is kept together. */
  readonly subject: string;
  /** A client, whose minute and day belong together and whose day outlives the process; else an address. */
  readonly isClient: boolean;
  /** All must have room; then the request counts in all. */
  readonly windows: readonly QuotaWindow[];
  /** The API key that a refusal counts against; absent where there is no valid one, and then nothing is banned. */
  readonly keyId?: string | undefined;
}

/** What a decision found in one window. */
export interface WindowState {
  readonly name: string;
  readonly limit: number;
  readonly lengthMs: number;
  /** Requests counted in it, this one included; more than the limit once a plan was made smaller. */
  readonly used: number;
  /** Requests left after this one. */
  readonly remaining: number;
  /** When the window ends and is full again, in ms since the Unix epoch. */
  readonly resetsAt: number;
}

/** One decision on one request: guard, headers, body, logs and metrics all speak from this value. */
export interface QuotaVerdict {
  readonly admitted: boolean;
  /** When it was decided, in ms since the Unix epoch. */
  readonly at: number;
  /** In the order of the windows that were asked for. */
  readonly windows: readonly WindowState[];
  /** End of the key's ban, in ms since the Unix epoch, when that is why it was refused. */
  readonly bannedUntil?: number;
  /** Whether it is this request that brought the ban about. */
  readonly banBegins?: true;
}

/** Of some windows the one that a client should look at: fewest remaining; on a tie the one to wait longer for. */
export function tightestWindow(windows: readonly WindowState[]): WindowState | undefined {
  return pick(windows, (window, best) =>
    window.remaining === best.remaining ? resetsLater(window, best) : window.remaining < best.remaining,
  );
}

/** When a refused request may come again, in ms since the Unix epoch. */
export function retryAtOf(verdict: QuotaVerdict): number {
  return verdict.bannedUntil ?? violatedWindow(verdict)?.resetsAt ?? verdict.at;
}

/** Of the windows without room, the one that resets last; the one to wait for after a refusal. */
export function violatedWindow(verdict: QuotaVerdict): WindowState | undefined {
  if (verdict.admitted) return undefined;
  return pick(
    verdict.windows.filter((window) => window.remaining === 0),
    resetsLater,
  );
}

function resetsLater(window: WindowState, other: WindowState): boolean {
  return window.resetsAt === other.resetsAt
    ? window.lengthMs > other.lengthMs
    : window.resetsAt > other.resetsAt;
}

function pick(
  windows: readonly WindowState[],
  better: (window: WindowState, best: WindowState) => boolean,
): WindowState | undefined {
  let best: WindowState | undefined;
  for (const window of windows) if (!best || better(window, best)) best = window;
  return best;
}
