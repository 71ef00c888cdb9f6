import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { HttpException } from '@nestjs/common';
import type { Attributes, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { softwareVersion } from '../software-version.js';
import { outsideOfTraceIds } from './trace-ids.js';

/** OpenTelemetry's API with the tracer of the service, once it is known that a registered SDK takes its spans. */
export interface Tracing {
  readonly api: typeof import('@opentelemetry/api');
  readonly tracer: Tracer;
}

/** Every copy of the API keeps what is registered with it below a global symbol of this name and its major version. */
const REGISTRY = 'opentelemetry.js.api.';
/** Maximum time for the SDK to send its last spans at shutdown, in milliseconds. */
const FLUSH_LIMIT_MS = 2_000;

/** Methods of SDK providers beyond the API, which returns a proxy of the provider. */
interface Flushing {
  readonly getDelegate?: () => Flushing;
  readonly forceFlush?: () => Promise<void>;
}

let running: Tracing | undefined;

/** Creates spans; undefined unless an SDK was registered before the start. */
export function tracing(): Tracing | undefined {
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
  running = { api, tracer: provider.getTracer('petstore-service', softwareVersion()) };
  return true;
}

/** Makes the SDK send the spans that it batches, as far as it can in time. */
export async function flushSpans(): Promise<void> {
  const provider = running?.api.trace.getTracerProvider() as Flushing | undefined;
  const registered = provider?.getDelegate?.() ?? provider;
  const flushed = registered?.forceFlush?.().catch(() => undefined);
  await Promise.race([flushed, setTimeout(FLUSH_LIMIT_MS, undefined, { ref: false })]);
}

/** Notes what is active when a request arrives: when its turn comes on its connection, that may be of another request. */
export function noteArrival(request: IncomingMessage): void {
  if (running) request.arrivedIn = running.api.context.active();
}

/** Runs a part of a request in a separate span below the active one. Work outside of requests has no span. */
export function inSpan<T>(
  name: string,
  kind: keyof typeof SpanKind,
  attributes: Attributes,
  work: () => T,
): T {
  const on = running;
  const outer = on?.api.context.active();
  if (!on || !outer || !on.api.trace.getSpan(outer)) return work();
  const { context, SpanKind: kinds, trace } = on.api;
  const span = on.tracer.startSpan(name, { kind: kinds[kind], attributes }, outer);
  const failed = (error: unknown): void => endFailed(on, span, error);
  try {
    const result = context.with(trace.setSpan(outer, span), work);
    if (result instanceof Promise) result.then(() => span.end(), failed);
    else span.end();
    return result;
  } catch (error) {
    failed(error);
    throw error;
  }
}

/** Runs work that does not belong to the request that triggers it: without spans below the request's, and without its ids in the log. */
export function outsideOfSpans<T>(work: () => T): T {
  const alone = () => outsideOfTraceIds(work);
  return running ? running.api.context.with(running.api.ROOT_CONTEXT, alone) : alone();
}

/** Ends the span of a part that has thrown, as an error unless it is a refusal; without its message, which may quote values. */
function endFailed({ api }: Tracing, span: Span, error: unknown): void {
  if (!(error instanceof HttpException && error.getStatus() < 500)) {
    span.setAttribute('error.type', error instanceof Error ? error.name : typeof error);
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  }
  span.end();
}
