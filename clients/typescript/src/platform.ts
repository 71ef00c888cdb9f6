/**
 * What the client uses of the platform that it runs on, which Node, browsers, Deno and Bun have alike. Named here, and not by the
 * library of one of them, so that the types need neither DOM nor Node.
 */

/** A response, as far as the client reads it. */
export interface FetchedResponse {
  readonly status: number;
  readonly type?: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** What is sent. */
export interface FetchInit {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: unknown;
}

/** `fetch`, as far as the client calls it. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchedResponse>;

/** The type of `fetch` of the platform, where its types are known. */
export type PlatformFetch = typeof globalThis extends { fetch: infer Known } ? Known : Fetch;

/** A signal that can abort, as far as the client listens to it. */
export interface Abortable {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

interface Platform {
  readonly fetch?: Fetch;
  readonly AbortController: new () => { readonly signal: unknown; abort(reason?: unknown): void };
  readonly URL: new (url: string, base?: string) => ParsedUrl;
  readonly performance: { now(): number };
  readonly crypto?: { getRandomValues(bytes: Uint8Array): Uint8Array };
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** A parsed address. */
export interface ParsedUrl {
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

/** The platform's globals. */
export const platform = globalThis as unknown as Platform;

/** Time and chance, which suites replace. */
export interface Chances {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some instant; unlike `now()` it is never set to another time. */
  elapsed(): number;
  /** From 0, included, to 1, excluded. */
  random(): number;
  /** Calls back after at least so many milliseconds; answers what stops it. */
  after(ms: number, run: () => void): () => void;
}

/** The longest time that timers take, in milliseconds; a longer one would end at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Those of the platform. */
export const REAL_CHANCES: Chances = {
  now: () => Date.now(),
  elapsed: () => platform.performance.now(),
  random: () => Math.random(),
  after: (ms, run) => {
    const timer = platform.setTimeout(run, Math.min(ms, LONGEST_TIMER_MS));
    return () => platform.clearTimeout(timer);
  },
};

/** Where suites put others among the options of a client. */
export const CHANCES = Symbol('petstore-client chances');
