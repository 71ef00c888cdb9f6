import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { RequestSlot } from '../request-slot.js';
import { parseTraceparent } from './traceparent.js';

/** What log lines of a request tell of its trace. */
export interface TraceIds {
  readonly traceId: string;
  /** The span that a line belongs to: the service's own where it makes spans, otherwise the caller's. */
  readonly spanId: string;
}

/** The ids of a request, for lines that are written after its async context has ended. */
const OF_REQUEST = new RequestSlot<TraceIds>();

/** The ids of the request that runs. It is entered only for requests with a trace: Node makes every promise dearer from then on. */
const running = new AsyncLocalStorage<TraceIds | undefined>();

/** The trace that a request was sent in, by its `traceparent`; undefined without a well-formed one. */
export function callersTraceOf({ headers }: IncomingMessage): TraceIds | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' ? parseTraceparent(traceparent) : undefined;
}

/** The trace of a request, for its own line in the log; undefined without one. */
export function traceIdsOf(request: IncomingMessage): TraceIds | undefined {
  return OF_REQUEST.get(request);
}

/** The trace of the request that runs, for any other line that is logged meanwhile; undefined without one. */
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
    OF_REQUEST.set(request, ids);
    running.run(ids, follow);
    // A request that had to wait for the one before it on its connection begins in that one's async context.
  } else if (running.getStore()) running.run(undefined, follow);
  else follow();
}

/** Runs work so that its log lines have these ids. */
export function withTraceIds<T>(ids: TraceIds, work: () => T): T {
  return running.run(ids, work);
}

/** Runs work that belongs to no trace, such as that of several requests together: its log lines have no ids. */
export function outsideOfTraceIds<T>(work: () => T): T {
  return running.getStore() ? running.run(undefined, work) : work();
}
