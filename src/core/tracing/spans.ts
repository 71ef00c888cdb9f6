import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { outsideOfTraceIds } from './trace-ids.js';

/** Every copy of the API keeps what is registered with it below a global symbol of this name and its major version. */
const REGISTRY = 'opentelemetry.js.api.';
/** Maximum time for the SDK to send its last spans at shutdown, in milliseconds. */
const FLUSH_LIMIT_MS = 2_000;

/** Methods of SDK providers beyond the API, which returns a proxy of the provider. */
interface Flushing {
  readonly getDelegate?: () => Flushing;
  readonly forceFlush?: () => Promise<void>;
}

let running: typeof import('@opentelemetry/api') | undefined;

/** OpenTelemetry's API; undefined unless an SDK was registered before the start. */
export function tracing(): typeof running {
  return running;
}

/** Whether an SDK is registered; without one the API is not even loaded. Throws when it cannot be loaded for one that is. */
export async function startTracing(): Promise<boolean> {
  const symbols = Object.getOwnPropertySymbols(globalThis);
  if (!symbols.some(({ description }) => description?.startsWith(REGISTRY))) return false;
  const api = await import('@opentelemetry/api');
  const provider = api.trace.getTracerProvider();
  // Without an SDK for traces, or with one that the API is too old or too new for, this is a stand-in for none.
  if (provider instanceof api.ProxyTracerProvider && !provider.getDelegateTracer('petstore')) return false;
  running = api;
  return true;
}

/** Makes the SDK send the spans that it batches, as far as it can in time. */
export async function flushSpans(): Promise<void> {
  const provider = running?.trace.getTracerProvider() as Flushing | undefined;
  const registered = provider?.getDelegate?.() ?? provider;
  const flushed = registered?.forceFlush?.().catch(() => undefined);
  await Promise.race([flushed, setTimeout(FLUSH_LIMIT_MS, undefined, { ref: false })]);
}

/** Notes what is active when a request arrives: when its turn comes on its connection, that may be of another request. */
export function noteArrival(request: IncomingMessage): void {
  if (running) request.arrivedIn = running.context.active();
}

/** Runs work that does not belong to the request that triggers it: without spans below the request's, and without its ids in the log. */
export function outsideOfSpans<T>(work: () => T): T {
  const alone = () => outsideOfTraceIds(work);
  return running ? running.context.with(running.ROOT_CONTEXT, alone) : alone();
}
