import { subscribe } from 'node:diagnostics_channel';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { holdsApiKey } from '../../accounts/api-key.format.js';
import { RequestSlot } from '../../request-slot.js';
import { arrivedIn, startTracing, type Tracing, tracing } from '../../tracing/spans.js';
import { callersTraceOf, runWithTraceIds } from '../../tracing/trace-ids.js';
import { OPERATION_CHANNEL, type TracedOperation } from './operation-tracing.js';

/** The methods that OpenTelemetry's conventions name; any other is `_OTHER`, so that clients cannot invent names of spans. */
const NAMED = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

const SPAN = new RequestSlot<Span>();

/** Makes spans of requests from now on if an OpenTelemetry SDK is registered; answers whether one is. */
export async function startRequestSpans(): Promise<boolean> {
  if (!(await startTracing())) return false;
  // The event of a tracing channel at which an operation begins.
  subscribe(`tracing:${OPERATION_CHANNEL}:start`, (message) => nameAfter(message as TracedOperation));
  return true;
}

/**
 * Has the log lines of a request name the trace that its caller sent it in, and, if an OpenTelemetry SDK is registered, gives the
 * request its one server span.
 */
export function traceRequest(request: Request, response: Response, next: NextFunction): void {
  const on = tracing();
  const callers = callersTraceOf(request);
  if (!on) {
    runWithTraceIds(request, callers, next);
    return;
  }
  const { context, isSpanContextValid } = on.api;
  const [span, active] = spanOfInstrumentation(on, request) ?? ownSpan(on, request, response);
  SPAN.set(request, span);
  const { traceId, spanId } = span.spanContext();
  const ids = isSpanContextValid(span.spanContext()) ? { traceId, spanId } : callers;
  context.with(active, () => runWithTraceIds(request, ids, next));
}

/** The span that an instrumentation of `node:http` has made: it ends it, too. */
function spanOfInstrumentation({ api }: Tracing, request: Request): [Span, Context] | undefined {
  const active = arrivedIn(request);
  const span = active && api.trace.getSpan(active);
  return span && [span, active];
}

function ownSpan({ api, tracer }: Tracing, request: Request, response: Response): [Span, Context] {
  const parent = api.propagation.extract(api.ROOT_CONTEXT, request.headers);
  const kind = api.SpanKind.SERVER;
  const span = tracer.startSpan(nameOf(request), { kind, attributes: attributesOf(request) }, parent);
  response.once('close', () => {
    const { headersSent, statusCode } = response;
    if (headersSent) span.setAttribute('http.response.status_code', statusCode);
    if (headersSent && statusCode >= 500) {
      span.setAttribute('error.type', String(statusCode));
      span.setStatus({ code: api.SpanStatusCode.ERROR });
    }
    span.end();
  });
  return [span, api.trace.setSpan(parent, span)];
}

/** No query, no header and no address: spans leave the machine. */
function attributesOf(request: Request): Attributes {
  const path = request.originalUrl.split('?', 1)[0] ?? '';
  const method = NAMED.has(request.method)
    ? { 'http.request.method': request.method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': request.method };
  return {
    ...method,
    'url.scheme': request.protocol,
    // A key that was put into the path by mistake.
    ...(path.includes('pst_') && holdsApiKey(path) ? {} : { 'url.path': path }),
  };
}

/** Its name, completed by the route once that is known. */
function nameOf({ method }: Request, route?: string): string {
  const named = NAMED.has(method) ? method : 'HTTP';
  return route === undefined ? named : `${named} ${route}`;
}

/** Names the span of a request after the operation that it has turned out to be for. */
function nameAfter({ request, route, operation }: TracedOperation): void {
  const span = SPAN.get(request);
  if (!span) return;
  const template = route.replaceAll(/[:*](\w+)/g, '{$1}');
  span.updateName(nameOf(request, template));
  span.setAttribute('http.route', template);
  if (operation !== undefined) span.setAttribute('petstore.operation', operation);
}
