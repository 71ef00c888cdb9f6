import type { Request } from 'express';

/** The Express application setting that contains its prefix. */
export const PUBLIC_PREFIX = 'public prefix';

/** The path prefix under which clients reach the service: the part of PUBLIC_BASE_URL before `/v1`, usually empty. */
export function publicPrefix(publicBaseUrl: string): string {
  return new URL(publicBaseUrl, 'http://service').pathname.replace(/\/v1\/?$|\/$/, '');
}

/** The prefix for a request; empty on the management port, which is reached without a proxy. */
export function publicPrefixOf({ app, isByManagementPort }: Request): string {
  const prefix: unknown = isByManagementPort ? undefined : app.get(PUBLIC_PREFIX);
  return typeof prefix === 'string' ? prefix : '';
}

/**
 * The path of a request from the client's point of view: with the prefix, and without scheme and host even if the request target has them.
 */
export function publicPathOf(request: Request): string {
  return publicPrefixOf(request) + request.path;
}
