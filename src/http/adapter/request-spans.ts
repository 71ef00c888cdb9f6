import type { Attributes, Span } from '@opentelemetry/api';
import type { Request, Response } from 'express';
import { holdsApiKey } from '../../auth/clients/api-key.format.js';
import { type Tracing, tracing } from '../../core/tracing/spans.js';
import { callersTraceOf, runWithTraceIds } from '../../core/tracing/trace-ids.js';
import { responseStatusOf, routeTemplateOf } from '../request-records.js';

/** The methods that OpenTelemetry's conventions name; any other is `_OTHER`, so that clients cannot invent names of spans. */
const NAMED = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);

/** Adds the caller's trace to log lines, and gives the request one server span, or names that of an instrumentation. */
export function traceRequest(request: Request, response: Response, next: () => void): void {
  const on = tracing();
  const callers = callersTraceOf(request);
  if (!on) {
    runWithTraceIds(request, callers, next);
    return;
  }
  const { context, isSpanContextValid, propagation, ROOT_CONTEXT, SpanKind, trace } = on.api;
  const arrived = request.arrivedIn ?? ROOT_CONTEXT;
  const made = trace.getSpan(arrived);
  const parent = propagation.extract(ROOT_CONTEXT, request.headers);
  const attributes = attributesOf(request);
  const span = made ?? on.tracer.startSpan(nameOf(request), { kind: SpanKind.SERVER, attributes }, parent);
  // Before the instrumentation ends its span.
  response.prependListener('close', () => {
    nameAfterRoute(span, request);
    if (!made) endSpan(on, span, response);
  });
  const { traceId, spanId } = span.spanContext();
  const ids = isSpanContextValid(span.spanContext()) ? { traceId, spanId } : callers;
  context.with(made ? arrived : trace.setSpan(parent, span), () => runWithTraceIds(request, ids, next));
}

function nameAfterRoute(span: Span, request: Request): void {
  if (request.route === undefined) return;
  const route = routeTemplateOf(request).replaceAll(/[:*](\w+)/g, '{$1}');
  span.updateName(`${nameOf(request)} ${route}`).setAttribute('http.route', route);
}

function endSpan({ api }: Tracing, span: Span, response: Response): void {
  const status = responseStatusOf(response);
  if (response.headersSent) span.setAttribute('http.response.status_code', status);
  if (status >= 500)
    span.setAttribute('error.type', String(status)).setStatus({ code: api.SpanStatusCode.ERROR });
  span.end();
}

/** No query, no header and no address: spans leave the machine. */
function attributesOf(request: Request): Attributes {
  // Express has not set `originalUrl` where overload refuses the request.
  const { originalUrl, url, method } = request as Partial<Request>;
  const path = (originalUrl ?? url ?? '').split('?', 1)[0] ?? '';
  return {
    'http.request.method': nameOf(request) === method ? method : '_OTHER',
    ...(nameOf(request) === method ? {} : { 'http.request.method_original': method }),
    'url.scheme': request.protocol,
    // A key that was put into the path by mistake.
    ...(path.includes('pst_') && holdsApiKey(path) ? {} : { 'url.path': path }),
  };
}

function nameOf({ method }: Request): string {
  return NAMED.has(method) ? method : 'HTTP';
}
