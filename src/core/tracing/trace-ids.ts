import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';

/** The ids of its trace in the log lines of a request. */
export interface TraceIds {
  /** 32 hexadecimal digits, not all of them 0. */
  readonly traceId: string;
  /** The span that a line belongs to: the service's own where it makes spans, otherwise the caller's. 16 digits, not all of them 0. */
  readonly spanId: string;
}

/** What versions have in common (W3C Trace Context, sections 3.2.2 and 4.2); ff is not a version. A later one may add fields behind. */
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
