import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../torture/random.js';
import type { Deployment } from './deployment.js';
import { type History, type Span, now } from './history.js';
import type { HowChanged, Session } from './sessions.js';

/** Timeout of a request, in milliseconds. */
const TIMEOUT_MS = 30_000;
/** Pause while an instance is unavailable, in milliseconds, because its startup needs the CPU. */
const AFTER_FAILURE_MS = 500;

/** A key of a client. */
export interface Key {
  readonly clientId: string;
  readonly id: string;
  readonly key: string;
}

/** A request to send. */
export interface Sent {
  readonly method?: string;
  readonly path: string;
  /** By default, the operator's key. */
  readonly key?: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Expected statuses in addition to 503. */
  readonly allowed: readonly number[];
}

/** A way to make a change: a request, a statement or a command. */
export type Way =
  | { readonly via: 'http'; readonly sent: Sent; readonly on?: number }
  | { readonly via: 'sql'; readonly statement: string; readonly how?: HowChanged }
  | { readonly via: 'command'; readonly args: readonly string[] };

/** A response, and the time span of its request. */
export interface Received extends Span {
  readonly on: number;
  /** Undefined if there was no response. */
  readonly status?: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A client in a run. It sends requests to all instances, has a session in the database, and records what it observes. */
export class Caller {
  readonly session: Session;

  constructor(
    readonly history: History,
    readonly deployment: Deployment,
    private readonly operator: Key,
    readonly random: SeededRandom,
  ) {
    this.session = deployment.parts.session();
  }

  /** A random instance. */
  anyInstance(): number {
    return Math.floor(this.random.between(0, this.deployment.instances.length));
  }

  /** Sends a request to the given instance or a random one, and records it. */
  async send(sent: Sent, on = this.anyInstance()): Promise<Received> {
    const { method = 'GET', path, key = this.operator.key, json, headers = {}, allowed } = sent;
    const origin = this.deployment.instances[on]?.origin ?? '';
    const start = now();
    const received = await responseOf(origin + path, {
      method,
      headers: headersOf({
        authorization: `Bearer ${key}`,
        'content-type': json === undefined ? undefined : 'application/json',
        ...headers,
      }),
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const span = { start, end: now(), on };
    if (received.status === undefined) await pause(AFTER_FAILURE_MS);
    const what = `${method} ${path.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{id}')}`;
    const { status } = received;
    this.history.exchanges.push({ ...span, what, allowed, status, fault: faultOf(received) });
    return { ...span, ...received };
  }

  /** Changes a subject in one of these ways, and records the change. Returns whether it was acknowledged. */
  async change(subject: string, value: string | undefined, ...ways: readonly Way[]): Promise<boolean> {
    const way = ways[Math.floor(this.random.between(0, ways.length))];
    const start = now();
    const done = way?.via === 'http' ? await this.send(way.sent, way.on) : undefined;
    const isDone = done
      ? (done.status ?? 500) < 300
      : way?.via === 'sql'
        ? await this.session.change(way.statement, way.how ?? 'at once', this.random.between(0, 200))
        : (await this.deployment.command(...(way?.via === 'command' ? way.args : []))) !== undefined;
    const end = isDone ? (done?.end ?? now()) : undefined;
    if (way) this.history.writes.push({ subject, value, start, via: way.via, end, on: done?.on });
    return isDone;
  }

  /** Records a change that a response reports. */
  wrote(subject: string, value: string | undefined, start: number, { end, on }: Received): void {
    this.history.writes.push({ subject, value, start, via: 'http', end, on });
  }

  /** Records the value of a subject in a response; undefined if there is none. */
  saw(
    subject: string,
    value: string | undefined,
    { start, end, on }: Span & { on: number },
    what: string,
  ): void {
    const shows = new Map(value === undefined ? [] : [[subject, value]]);
    this.history.reads.push({ start, end, on, what, about: subject, shows });
  }
}

function headersOf(headers: Readonly<Record<string, string | undefined>>): Headers {
  const entries = Object.entries(headers).filter((one): one is [string, string] => one[1] !== undefined);
  return new Headers(entries);
}

async function responseOf(url: string, options: RequestInit) {
  try {
    const response = await fetch(url, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch {
    return { status: undefined, headers: new Headers(), text: '' };
  }
}

/** Why a response is not a valid error according to SPEC.txt; undefined if it is valid. */
function faultOf({ status, headers, text }: Pick<Received, 'status' | 'headers' | 'text'>) {
  if (status === undefined || status < 400) return undefined;
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown; status?: unknown };
    const isError =
      typeof body.code === 'string' && typeof body.message === 'string' && body.status === status;
    const isRetried = body.code === 'service_unavailable' && headers.get('retry-after') !== null;
    return isError && (status !== 503 || isRetried) ? undefined : text.slice(0, 300);
  } catch {
    return `no JSON: ${text.slice(0, 300)}`;
  }
}
