/** The place in a trace that a caller works at: its trace, and the span that it has sent the request from. */
export interface TraceParent {
  /** 32 hexadecimal digits, not all of them 0. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all of them 0. */
  readonly spanId: string;
}

/** What versions have in common (W3C Trace Context, sections 3.2.2 and 4.2); ff is no version. A later one may add fields behind. */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(-.*)?$/;

/**
 * Reads the value of a `traceparent` header; undefined if it is not well-formed. Node joins several headers of that name with a
 * comma, which no version is known to have: of those none can be trusted.
 */
export function parseTraceparent(value: string): TraceParent | undefined {
  if (value.includes(',')) return undefined;
  const [, version, traceId, spanId, more] = FORM.exec(value) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return version === '00' && more !== undefined ? undefined : { traceId, spanId };
}
