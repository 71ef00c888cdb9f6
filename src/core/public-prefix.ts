import type { Request } from 'express';

/** The setting of the Express application that holds its prefix. */
const SETTING = 'public prefix';

/**
 * The path that stands before those of the service where clients reach it: what PUBLIC_BASE_URL has before `/v1`, such as
 * `/petstore` behind a proxy that takes it away. Empty without one.
 */
export function publicPrefix(publicBaseUrl: string): string {
  return new URL(publicBaseUrl, 'http://service').pathname.replace(/\/v1\/?$|\/$/, '');
}

/** Gives an Express application the prefix that PUBLIC_BASE_URL has. */
export function usePublicPrefix(
  application: { set(name: string, value: string): unknown },
  publicBaseUrl: string,
): void {
  application.set(SETTING, publicPrefix(publicBaseUrl));
}

/** The prefix of an Express application; empty without one. */
export function publicPrefixOf(application: { get(name: string): unknown }): string {
  const prefix = application.get(SETTING);
  return typeof prefix === 'string' ? prefix : '';
}

/** The path of a request as clients write it: with the prefix, without scheme and host also where the request target has them. */
export function publicPathOf({ app, path }: Request): string {
  return publicPrefixOf(app) + path;
}
