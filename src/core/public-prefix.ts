import type { Request } from 'express';

/** The setting of the Express application that holds its prefix. */
export const PUBLIC_PREFIX = 'public prefix';

/** The path before those of the service where clients reach it: what PUBLIC_BASE_URL has before `/v1`; mostly empty. */
export function publicPrefix(publicBaseUrl: string): string {
  return new URL(publicBaseUrl, 'http://service').pathname.replace(/\/v1\/?$|\/$/, '');
}

/** The prefix of the application of a request; empty without one, and on the management port, which is reached without a proxy. */
export function publicPrefixOf({ app, isByManagementPort }: Request): string {
  const prefix: unknown = isByManagementPort ? undefined : app.get(PUBLIC_PREFIX);
  return typeof prefix === 'string' ? prefix : '';
}

/** The path of a request as clients write it: with the prefix, without scheme and host also where the request target has them. */
export function publicPathOf(request: Request): string {
  return publicPrefixOf(request) + request.path;
}
