import type { Application, Request, Response } from 'express';
import { noteServed } from '../../http/request-records.js';
import type { ServedAsset } from './served-asset.js';

const READS = new Set(['GET', 'HEAD']);

/** Allows only resources from this origin. */
export const CONTENT_SECURITY_POLICY: Readonly<Record<string, string>> = {
  'default-src': `'none'`,
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self' data:`,
  'base-uri': `'none'`,
  'form-action': `'none'`,
  'frame-ancestors': `'none'`,
};

/** Maximum number of segments in the path of a page, whose links have to go up all of them. */
const MAX_SEGMENTS = 16;

/**
 * Maximum length of an `Accept` that is parsed, in characters. A header of maximum size takes 10 ms; browsers send less than 200
 * characters.
 */
const MAX_ACCEPT_LENGTH = 1_000;

/** Whether to respond with HTML: only if `Accept` includes it and does not prefer JSON. */
export function prefersHtml(request: Request, response: Response): boolean {
  response.vary('Accept');
  const { accept = '' } = request.headers;
  return accept.length <= MAX_ACCEPT_LENGTH && request.accepts(['json', 'html']) === 'html';
}

/** Options of a page. */
export interface ServedOptions {
  /** Directives of the policy in addition to those of every page, such as `connect-src`. */
  readonly policy?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether to serve a request; by default every GET and HEAD. All other requests return 404. */
  readonly respondsTo?: (request: Request, response: Response) => boolean;
}

/** Serves a page or file at a path, after all routes, so that it costs other requests nothing. */
export function servePage(
  application: Application,
  path: string,
  asset: ServedAsset,
  { policy, headers = {}, respondsTo }: ServedOptions = {},
): void {
  const ofPage = policyOf(policy);
  application.get(path, (request, response, next) => {
    if (respondsTo?.(request, response) === false) return next();
    // Logs and metrics use the folder of a file.
    request.route = undefined;
    noteServed(request, path);
    protect(response, ofPage);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return asset.send(request, response);
  });
}

/** Serves browsers a page for unknown paths, unless a guard has refused the request. Call it last. */
export function serveMissing(application: Application, pageFor: (path: string) => string): void {
  application.use((request, response, next) => {
    const path = request.originalUrl.split('?', 1)[0] ?? '';
    const isServed = READS.has(request.method) && path.split('/').length <= MAX_SEGMENTS;
    if (isServed && prefersHtml(request, response))
      request.missingPage = () => {
        protect(response, policyOf());
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        return pageFor(path);
      };
    next();
  });
}

function policyOf(directives: ServedOptions['policy'] = {}): string {
  return Object.entries({ ...CONTENT_SECURITY_POLICY, ...directives })
    .map((parts) => parts.join(' '))
    .join('; ');
}

function protect(response: Response, policy: string): void {
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Frame-Options', 'DENY');
}
