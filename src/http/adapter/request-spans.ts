import type { Attributes, Context, Span } from '@opentelemetry/api';
import type { NextFunction, Request, Response } from 'express';
import { holdsApiKey } from '../../auth/clients/api-key.format.js';
import { RequestSlot } from '../../core/request-slot.js';
import { arrivedIn, startTracing, type Tracing, tracing } from '../../core/tracing/spans.js';
import { callersTraceOf, runWithTraceIds } from '../../core/tracing/trace-ids.js';

/** The methods that OpenTelemetry's conventions name; any other is `_OTHER`, so that clients cannot invent names of spans. */
const NAMED = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

const SPAN = new RequestSlot<Span>();

/** Makes spans of requests from now on if an OpenTelemetry SDK is registered; answers whether one is. */
export function startRequestSpans(): Promise<boolean> {
  return startTracing();
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

function ownSpan(on: Tracing, request: Request, response: Response): [Span, Context] {
  const [span, active] = beginSpan(on, request);
  response.once('close', () => endSpan(on, span, response.headersSent ? response.statusCode : undefined));
  return [span, active];
}

/** Gives a request that overload refuses its server span, which an instrumentation of `node:http` has made otherwise. */
export function traceShed(request: Request, status: number): void {
  const on = tracing();
  if (on && !spanOfInstrumentation(on, request)) endSpan(on, beginSpan(on, request)[0], status);
}

function beginSpan({ api, tracer }: Tracing, request: Request): [Span, Context] {
  const parent = api.propagation.extract(api.ROOT_CONTEXT, request.headers);
  const kind = api.SpanKind.SERVER;
  const span = tracer.startSpan(nameOf(request), { kind, attributes: attributesOf(request) }, parent);
  return [span, api.trace.setSpan(parent, span)];
}

/** Ends the span of a request; `status` is undefined where nothing was answered. */
function endSpan({ api }: Tracing, span: Span, status: number | undefined): void {
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (status !== undefined && status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  }
  span.end();
}

/** No query, no header and no address: spans leave the machine. */
function attributesOf(request: Request): Attributes {
  // Express sets `originalUrl`, on requests that it is given.
  const { originalUrl, url } = request as Partial<Request>;
  const path = (originalUrl ?? url ?? '').split('?', 1)[0] ?? '';
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

/** Names the span of a request after its route, and after the operation that its handler is; undefined when it is none. */
export function nameRequestSpan(request: Request, operation: string | undefined): void {
  const span = tracing() && SPAN.get(request);
  const { path } = (request.route ?? {}) as { readonly path?: unknown };
  if (!span || typeof path !== 'string') return;
  const template = path.replaceAll(/[:*](\w+)/g, '{$1}');
  span.updateName(nameOf(request, template));
  span.setAttribute('http.route', template);
  if (operation !== undefined) span.setAttribute('petstore.operation', operation);
}
