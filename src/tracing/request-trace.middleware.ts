import type { NextFunction, Request, Response } from 'express';
import { callersTraceOf, runWithTraceIds } from './trace-ids.js';

/** Has the log lines of a request name the trace that its caller sent it in. */
export function traceRequest(request: Request, _response: Response, next: NextFunction): void {
  runWithTraceIds(request, callersTraceOf(request), next);
}
