import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** Every copy of the API keeps what is registered with it below a global symbol of this name and its major version. */
const REGISTRY = 'opentelemetry.js.api.';
/** Maximum time for the SDK to send its last spans at shutdown, in milliseconds. */
const FLUSH_LIMIT_MS = 2_000;

/** Methods of SDK providers beyond the API, which returns a proxy of the provider. */
interface Flushing {
  readonly getDelegate?: () => Flushing;
  readonly forceFlush?: () => Promise<void>;
}

/** Loaded at the start, if an SDK is registered. */
let opened: typeof import('@opentelemetry/api') | undefined;

/** OpenTelemetry's API; undefined unless an SDK was registered before the start. */
export function tracing(): typeof opened {
  return opened;
}

/** Whether an SDK is registered; without one the API is not even loaded. Throws when it cannot be loaded for one that is. */
export async function startTracing(): Promise<boolean> {
  const symbols = Object.getOwnPropertySymbols(globalThis);
  if (!symbols.some(({ description }) => description?.startsWith(REGISTRY))) return false;
  const api = await import('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  // Without an SDK for traces, or with one that the API is too old or too new for, this is a stand-in for none.
  if (provider instanceof api.ProxyTracerProvider && !provider.getDelegateTracer('petstore')) return false;
  opened = api;
  return true;
}

/** Makes the SDK send the spans that it batches, as far as it can in time. */
export async function flushSpans(): Promise<void> {
  const provider = opened?.trace.getTracerProvider() as Flushing | undefined;
  const registered = provider?.getDelegate?.() ?? provider;
  const flushed = registered?.forceFlush?.().catch(() => undefined);
  await Promise.race([flushed, setTimeout(FLUSH_LIMIT_MS, undefined, { ref: false })]);
}

/** Notes what is active when a request arrives: when its turn comes on its connection, that may be of another request. */
export function noteArrival(request: IncomingMessage): void {
  if (opened) request.arrivedIn = opened.context.active();
}

/** Runs work that does not belong to the request that triggers it: without spans below the request's, and without its ids in the log. */
export function outsideOfSpans<T>(work: () => T): T {
  const alone = () => outsideOfTraceIds(work);
  return opened ? opened.context.with(opened.ROOT_CONTEXT, alone) : alone();
}

/** The ids of its trace in the log lines of a request. */
export interface TraceIds {
  /** 32 hexadecimal digits, not all of them 0. */
  readonly traceId: string;
  /** The span that a line belongs to: that of the request where an instrumentation made one, otherwise the caller's. 16 digits, not all of them 0. */
  readonly spanId: string;
}

/** What versions have in common (W3C Trace Context, sections 3.2.2 and 4.2); ff is not a version. A later one may add fields at the end. */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** The ids of the request that runs. It is entered only for requests with a trace: Node makes every promise dearer from then on. */
const running = new AsyncLocalStorage<TraceIds | undefined>();

/** Reads a `traceparent`; undefined if it is not well-formed, or several joined by a comma, of which none can be trusted. */
export function parseTraceparent(value: string): TraceIds | undefined {
  if (value.includes(',')) return undefined;
  const [, version, traceId, spanId, more] = FORM.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return version === '00' && more !== undefined ? undefined : { traceId, spanId };
}

/** The trace that a request was sent in, by its `traceparent`; undefined without a well-formed one. */
export function callersTraceOf({ headers }: IncomingMessage): TraceIds | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}

/** The trace of the request that runs, for any other line that is logged in the meantime; undefined without one. */
export function runningTraceIds(): TraceIds | undefined {
  return running.getStore();
}

/** Runs what follows of a request, so that its log lines have these ids, or none. */
export function runWithTraceIds(
  request: IncomingMessage,
  ids: TraceIds | undefined,
  follow: () => void,
): void {
  if (ids) {
    request.traceIds = ids;
    running.run(ids, follow);
    // A request that had to wait for the one before it on its connection begins in that one's async context.
  } else outsideOfTraceIds(follow);
}

/** Runs work that belongs to no trace, such as that of several requests together: its log lines have no ids. */
export function outsideOfTraceIds<T>(work: () => T): T {
  return running.getStore() ? running.run(undefined, work) : work();
}
