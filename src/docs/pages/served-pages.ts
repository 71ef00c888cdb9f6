import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { noteServed } from '../../http/request-records.js';
import type { ServedAsset } from './served-asset.js';

const READS = new Set(['GET', 'HEAD']);

/** Allows resources from this origin alone. */
export const CONTENT_SECURITY_POLICY: Readonly<Record<string, string>> = {
  'default-src': `'none'`,
  'script-src': `'self'`,
  'style-src': `'self'`,
  'img-src': `'self' data:`,
  'base-uri': `'none'`,
  'form-action': `'none'`,
  'frame-ancestors': `'none'`,
};

/** Maximum number of segments of a path that gets a page: its addresses climb each of them. */
const MOST_SEGMENTS = 16;

/** Longest `Accept` that is parsed, in characters. One that fills the head takes 10 ms; browsers send less than 200 characters. */
const LONGEST_ACCEPT = 1_000;

/** Whether to respond with HTML: only where `Accept` names it and does not prefer JSON. */
export function prefersHtml(request: Request, response: Response): boolean {
  response.vary('Accept');
  const { accept = '' } = request.headers;
  return accept.length <= LONGEST_ACCEPT && request.accepts(['json', 'html']) === 'html';
}

/** Something to serve at one path. */
export interface Served {
  readonly asset: ServedAsset;
  /** Directives of the policy besides those of every page, such as `connect-src`. */
  readonly policy?: Readonly<Record<string, string>>;
  /** Whether to answer this request; without it every GET and HEAD. What is not answered stays a path that does not exist. */
  readonly answers?: (request: Request, response: Response) => boolean;
}

/** Serves the pages for people and their files, from memory, behind all routes, where they cost other requests nothing. */
@Injectable()
export class ServedPages implements OnModuleInit {
  /** Makes the page for a path at which there is nothing; without it everyone gets the Error body. */
  missing: ((path: string) => string) | undefined;

  private readonly served = new Map<string, { page: Served; policy: string }>();

  constructor(private readonly adapterHost: HttpAdapterHost) {}

  /** Nest calls this when all routes are registered. */
  onModuleInit(): void {
    this.adapterHost.httpAdapter.use((request: Request, response: Response, next: NextFunction) =>
      this.serve(request, response, next),
    );
  }

  /** Serves something at a path; what a route of the service answers already stays as it is. */
  add(path: string, page: Served): void {
    this.served.set(path, { page, policy: policyOf(page.policy) });
  }

  private serve(request: Request, response: Response, next: NextFunction): Promise<void> | undefined {
    const path = request.originalUrl.split('?', 1)[0] ?? '';
    const found = this.served.get(path);
    const isRead = READS.has(request.method);
    if (found && !isRead) request.isServedReadOnly = true;
    if (!found && isRead) this.offerMissing(path, request, response);
    if (!found || !isRead || found.page.answers?.(request, response) === false) {
      next();
      return undefined;
    }
    noteServed(request, path);
    protect(response, found.policy);
    return found.page.asset.send(request, response);
  }

  /** Notes the page for a browser; it is sent when no guard has refused the request. */
  private offerMissing(path: string, request: Request, response: Response): void {
    const { missing } = this;
    if (!missing || path.split('/').length > MOST_SEGMENTS || !prefersHtml(request, response)) return;
    request.missingPage = () => {
      protect(response, policyOf());
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      return missing(path);
    };
  }
}

function policyOf(directives: Served['policy'] = {}): string {
  return Object.entries({ ...CONTENT_SECURITY_POLICY, ...directives })
    .map((parts) => parts.join(' '))
    .join('; ');
}

function protect(response: Response, policy: string): void {
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Frame-Options', 'DENY');
}
