import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** Every copy of the API stores its registrations under a global symbol with this name and the API's major version. */
const REGISTRY = 'opentelemetry.js.api.';
/** Maximum time for the SDK to send its last spans at shutdown, in milliseconds. */
const FLUSH_LIMIT_MS = 2_000;

/** Methods of SDK providers beyond the API, which returns a proxy of the provider. */
interface Flushing {
  readonly getDelegate?: () => Flushing;
  readonly forceFlush?: () => Promise<void>;
}

/** Loaded at startup if an SDK is registered. */
let opened: typeof import('@opentelemetry/api') | undefined;

/** OpenTelemetry's API; undefined unless an SDK was registered before startup. */
export function tracing(): typeof opened {
  return opened;
}

/** Whether an SDK is registered; without one, the API is not even loaded. Throws if the API cannot be loaded although there is one. */
export async function startTracing(): Promise<boolean> {
  const symbols = Object.getOwnPropertySymbols(globalThis);
  if (!symbols.some(({ description }) => description?.startsWith(REGISTRY))) return false;
  const api = await import('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  // Without an SDK for traces, or with an incompatible version, this is a stand-in.
  if (provider instanceof api.ProxyTracerProvider && !provider.getDelegateTracer('petstore')) return false;
  opened = api;
  return true;
}

/** Makes the SDK send its batched spans, as far as possible within a time limit. */
export async function flushSpans(): Promise<void> {
  const provider = opened?.trace.getTracerProvider() as Flushing | undefined;
  const registered = provider?.getDelegate?.() ?? provider;
  const flushed = registered?.forceFlush?.().catch(() => undefined);
  await Promise.race([flushed, setTimeout(FLUSH_LIMIT_MS, undefined, { ref: false })]);
}

/**
 * Records the active context when a request arrives. When the request is handled, after earlier ones on its connection, another request's
 * may be active.
 */
export function noteArrival(request: IncomingMessage): void {
  if (opened) request.arrivedIn = opened.context.active();
}

/** Runs work that does not belong to the request that triggers it: without child spans and without the request's ids in the log. */
export function outsideOfSpans<T>(work: () => T): T {
  const alone = () => outsideOfTraceIds(work);
  return opened ? opened.context.with(opened.ROOT_CONTEXT, alone) : alone();
}

/** The trace ids in a request's log lines. */
export interface TraceIds {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The span of a line: the request's own if created by instrumentation, otherwise the caller's. 16 digits, not all 0. */
  readonly spanId: string;
}

/** The common part of all versions (W3C Trace Context, sections 3.2.2 and 4.2); ff is not a version. Later versions may append fields. */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/** The ids of the running request. Used only for requests with a trace, because it makes every promise in Node more expensive. */
const running = new AsyncLocalStorage<TraceIds | undefined>();

/** Parses a `traceparent`; undefined if it is malformed, or if several are joined by commas, none of which can be trusted. */
export function parseTraceparent(value: string): TraceIds | undefined {
  if (value.includes(',')) return undefined;
  const [, version, traceId, spanId, more] = FORM.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return version === '00' && more !== undefined ? undefined : { traceId, spanId };
}

/** The trace in a request's `traceparent`; undefined without a valid one. */
export function callersTraceOf({ headers }: IncomingMessage): TraceIds | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}

/** The trace of the running request, for other lines logged in the meantime; undefined if there is none. */
export function runningTraceIds(): TraceIds | undefined {
  return running.getStore();
}

/** Runs the rest of a request, so that its log lines have these ids, or none. */
export function runWithTraceIds(
  request: IncomingMessage,
  ids: TraceIds | undefined,
  follow: () => void,
): void {
  if (ids) {
    request.traceIds = ids;
    running.run(ids, follow);
    // A request that waited for the previous one on its connection starts in the async context of that request.
  } else outsideOfTraceIds(follow);
}

/** Runs work that belongs to no trace, such as that of several requests together, so its log lines have no ids. */
export function outsideOfTraceIds<T>(work: () => T): T {
  return running.getStore() ? running.run(undefined, work) : work();
}
