import { onTestFinished, vi } from 'vitest';
import { type ClientOptions, type Int64Form, PetstoreClient } from '../../clients/typescript/src/index.js';
import { type Step, json, scriptedServer } from './scripted-server.js';

export const KEY = 'pst_test_1234567890';
export const REX = { name: 'Rex', categoryId: 1 };
/** Timeout of an attempt. No wait between attempts has the same length. */
const TIMEOUT_MS = 12_345;

const REAL = { setTimeout, clearTimeout, random: Math.random, now: performance.now.bind(performance) };
/** Whether the client set the timer, rather than fetch or a service in this process, which also use timers. */
const isOfClient = (): boolean => new Error().stack?.includes('clients/typescript/src') === true;

/** Controls the timers of a client: waits pass immediately and are recorded, and the timeout of an attempt occurs on request. */
export class ControlledTime {
  /** The waits between attempts so far, in milliseconds. */
  readonly waits: number[] = [];
  /** Whether waits pass immediately; otherwise, they never end. */
  doWaitsPass = true;
  elapsed = 0;
  private readonly running = new Map<object, { readonly run: () => void; readonly ms: number }>();
  private attempt: object = {};

  constructor() {
    vi.spyOn(performance, 'now').mockImplementation(() => (isOfClient() ? this.elapsed : REAL.now()));
    vi.spyOn(Math, 'random').mockImplementation(() => (isOfClient() ? 0.5 : REAL.random()));
    vi.stubGlobal('setTimeout', (run: () => void, ms: number, ...more: []) => {
      if (!isOfClient()) return REAL.setTimeout(run, ms, ...more);
      const timer = {};
      this.running.set(timer, { run, ms });
      if (ms === TIMEOUT_MS) this.attempt = timer;
      else {
        this.waits.push(ms);
        if (this.doWaitsPass) setImmediate(() => this.end(timer));
      }
      return timer;
    });
    vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout) => {
      if (!this.running.delete(timer)) REAL.clearTimeout(timer);
    });
    onTestFinished(() => void [vi.unstubAllGlobals(), vi.restoreAllMocks()]);
  }

  /** The number of running timers. */
  get timers(): number {
    return this.running.size;
  }

  /** Lets the running attempt time out. */
  timeOut(): void {
    this.end(this.attempt);
  }

  /** Ends the waits that would otherwise never end. */
  wake(): void {
    for (const timer of this.running.keys()) if (timer !== this.attempt) this.end(timer);
  }

  private end(timer: object): void {
    const { run, ms = 0 } = this.running.get(timer) ?? {};
    this.elapsed += ms;
    run?.();
    this.running.delete(timer);
  }
}

/** A client, and the server that responds to it according to a script. */
export async function scriptedClient<Form extends Int64Form = 'bigint'>(
  script: readonly Step[],
  options: Partial<ClientOptions<Form>> = {},
) {
  const server = await scriptedServer(...script);
  const time = new ControlledTime();
  const baseUrl = `${server.url}/v1`;
  const client = new PetstoreClient<Form>({ baseUrl, apiKey: KEY, timeoutMs: TIMEOUT_MS, ...options });
  return { ...server, time, client };
}

/** Options of a client whose timeout ControlledTime recognizes. */
export const CONTROLLED = { timeoutMs: TIMEOUT_MS };

export const pet = (id: string, more = '') =>
  `{"id":${id},"name":"Rex","categoryId":1,"status":"available"${more}}`;
export const created = json(201, pet('9007199254740993'));

export async function all<Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

export const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
