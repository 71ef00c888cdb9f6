import type { Span } from '@opentelemetry/api';
import type { Request, Response } from 'express';
import { holdsApiKey } from '../../auth/clients/api-key.format.js';
import { callersTraceOf, runWithTraceIds, tracing } from '../../core/tracing.js';
import { routeTemplateOf } from '../request-records.js';

/** Replaces a part of a target that holds an API key. */
const REDACTED = 'redacted';

/** Adds the ids of its trace to the log lines of a request, and names the span that an instrumentation of node:http has made. */
export function traceRequest(request: Request, response: Response, next: () => void): void {
  const api = tracing();
  const { arrivedIn } = request;
  const span = arrivedIn && api?.trace.getSpan(arrivedIn);
  if (!api || !span) {
    runWithTraceIds(request, callersTraceOf(request), next);
    return;
  }
  // Before the instrumentation ends its span.
  response.prependListener('close', () => describe(span, request));
  const { traceId, spanId } = span.spanContext();
  const ids = api.isSpanContextValid(span.spanContext()) ? { traceId, spanId } : callersTraceOf(request);
  api.context.with(arrivedIn, () => runWithTraceIds(request, ids, next));
}

/** Names a span after its route, and removes a key that the client has put into the target by mistake: spans leave the machine. */
function describe(span: Span, request: Request): void {
  const [path = ''] = request.originalUrl.split('?', 1);
  const query = request.originalUrl.slice(path.length);
  if (holdsApiKey(path)) span.setAttribute('url.path', REDACTED);
  if (holdsApiKey(query)) span.setAttribute('url.query', REDACTED);
  if (request.route === undefined) return;
  const route = routeTemplateOf(request).replaceAll(/[:*](\w+)/g, '{$1}');
  span.updateName(`${request.method} ${route}`).setAttribute('http.route', route);
}
