import type { Request, Response } from 'express';

/** Nginx's status for a request whose client closed the connection before the response; never sent. */
const CLIENT_CLOSED_REQUEST = 499;

/** The status that a request ended with, for logs and metrics: the one that was sent, or 499 when none was. */
export function responseStatusOf({ headersSent, statusCode }: Response): number {
  return headersSent ? statusCode : CLIENT_CLOSED_REQUEST;
}

/** The template of the matched route, such as `/v1/pets/:petId`. Unlike paths, there is a limited number of templates. */
export function routeTemplateOf(request: Request): string {
  const route = request.route as { path?: unknown } | undefined;
  return typeof route?.path === 'string' ? route.path : 'unmatched';
}
