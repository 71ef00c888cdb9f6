import type { Request } from 'express';

/** The setting of the Express application that holds its prefix. */
export const PUBLIC_PREFIX = 'public prefix';

/** The path before those of the service where clients reach it: what PUBLIC_BASE_URL has before `/v1`; mostly empty. */
export function publicPrefix(publicBaseUrl: string): string {
  return new URL(publicBaseUrl, 'http://service').pathname.replace(/\/v1\/?$|\/$/, '');
}

/** The prefix of an Express application; empty without one. */
export function publicPrefixOf(application: { get(name: string): unknown }): string {
  const prefix = application.get(PUBLIC_PREFIX);
  return typeof prefix === 'string' ? prefix : '';
}

/** The path of a request as clients write it: with the prefix, without scheme and host also where the request target has them. */
export function publicPathOf({ app, path }: Request): string {
  return publicPrefixOf(app) + path;
}
