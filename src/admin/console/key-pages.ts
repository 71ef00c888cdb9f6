import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../../core/config/settings.js';
import { noteServed } from '../../http/request-records.js';
import { namesOfPageFiles, pageFile } from '../../docs/page-files.js';
import { ServedAsset } from '../../docs/pages/served-asset.js';
import { prefersHtml } from '../../docs/pages/served-pages.js';

const CONSOLE = '/console';
const ACCOUNT = '/account';
const READS = new Set(['GET', 'HEAD']);

/** Where its files are, below the source root. */
const FOLDER = 'admin/console/static';
/** Files that it shares with all pages. */
const OF_ALL_PAGES = ['shared.css', 'mark.svg'];

/**
 * Only scripts, styles and responses of this origin, so that injected markup could neither run nor send a key
 * anywhere; no other page may frame it.
 */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `connect-src 'self'`,
  `img-src 'self' data:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
  `trusted-types 'none'`,
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex, nofollow',
};

/**
 * Serves the pages for people with a key, from memory: the console of operators, unless CONSOLE is off, and the account of key holders. They
 * are static and contain no secret: they request everything from /admin or /account with the key that the user enters. Both are
 * the same files, which recognize by their address which page they are.
 */
@Injectable()
export class KeyPages implements OnModuleInit {
  /** By their names below the path of a page. */
  private readonly assets = new Map([
    ...namesOfPageFiles(FOLDER).map((name) => assetOf(FOLDER, name)),
    ...OF_ALL_PAGES.map((name) => assetOf('docs/pages/static', name)),
  ]);

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly settings: Settings,
  ) {}

  /** Redirects a browser from /account, which programs get as JSON, to the page. */
  use = (request: Request, response: Response, next: NextFunction): void => {
    const isHere = request.url === ACCOUNT && request.method === 'GET' && prefersHtml(request, response);
    if (isHere) lead(request, response, ACCOUNT);
    else next();
  };

  /** Nest calls this when all routes are registered: the pages are behind them, where they cost other requests nothing. */
  onModuleInit(): void {
    for (const path of this.settings.console === 'off' ? [ACCOUNT] : [CONSOLE, ACCOUNT])
      this.adapterHost.httpAdapter.use(path, (request: Request, response: Response, next: NextFunction) =>
        this.serve(path, request, response, next),
      );
  }

  private serve(
    path: string,
    request: Request,
    response: Response,
    next: NextFunction,
  ): Promise<void> | undefined {
    const asked = request.originalUrl.split('?', 1)[0] ?? '';
    const asset = asked === path ? undefined : this.assets.get(asked.slice(path.length + 1));
    const isServed = asset !== undefined || asked === CONSOLE;
    const isRead = READS.has(request.method);
    if (isServed && !isRead) request.isServedReadOnly = true;
    if (!isServed || !isRead) {
      next();
      return undefined;
    }
    if (!asset) return lead(request, response, path);
    noteServed(request, asked);
    protect(response);
    return asset.send(request, response);
  }
}

function protect(response: Response): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
}

/** Redirects to the page below a path. Relative, like all addresses of the pages: a proxy may have removed a prefix. */
function lead(request: Request, response: Response, path: string): undefined {
  noteServed(request, path);
  protect(response);
  response.statusCode = 307;
  response.setHeader('Location', `${path.slice(1)}/`);
  response.setHeader('Content-Length', 0);
  response.end();
  return undefined;
}

function assetOf(folder: string, name: string): [string, ServedAsset] {
  const asset = new ServedAsset(name, () => pageFile(`${folder}/${name}`));
  return [name === 'index.html' ? '' : name, asset];
}
