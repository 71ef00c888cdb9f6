import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../../core/config/settings.js';
import { noteServed } from '../../http/request-records.js';
import { pageFile } from '../../docs/page-files.js';
import { ServedAsset } from '../../docs/pages/served-asset.js';

const PATH = '/console';
const READS = new Set(['GET', 'HEAD']);

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The files that are served, by their names below /console/. */
const FILES: Readonly<Record<string, string>> = {
  '': HTML,
  'colours.css': CSS,
  'console.css': CSS,
  'views.css': CSS,
  'mark.svg': 'image/svg+xml',
  ...Object.fromEntries(
    [
      'admin-api',
      'audit-view',
      'changes-of-client',
      'changes-of-key',
      'client-keys',
      'client-usage',
      'client-view',
      'clients-view',
      'console',
      'dialogs',
      'elements',
      'fields',
      'names',
      'paging',
      'patience',
      'plots',
      'polling',
      'requests-view',
      'secret-dialog',
      'session',
      'sign-in-view',
      'theme',
      'times',
    ].map((name) => [`${name}.js`, SCRIPT]),
  ),
};

/**
 * Nothing but this origin's own scripts, styles and answers, so that a text that became markup could neither run nor send a key
 * anywhere; no frame of another page may hold it.
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
 * Serves the page for operators, from memory, unless CONSOLE is off. It is static and holds no secret: everything that it shows
 * it asks of the administration, with the key that the operator gives it.
 */
@Injectable()
export class OperatorsConsole implements OnModuleInit {
  private readonly assets = new Map(
    Object.entries(FILES).map(([name, type]) => [
      `${PATH}/${name}`,
      new ServedAsset(type, () => pageFile(fileOf(name))),
    ]),
  );

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly settings: Settings,
  ) {}

  /** Nest calls this when all routes are registered: the page stands behind them, where it costs other requests nothing. */
  onModuleInit(): void {
    if (this.settings.console === 'off') return;
    this.adapterHost.httpAdapter.use(PATH, (request: Request, response: Response, next: NextFunction) =>
      this.serve(request, response, next),
    );
  }

  private serve(request: Request, response: Response, next: NextFunction): Promise<void> | undefined {
    const path = request.originalUrl.split('?', 1)[0] ?? '';
    const asset = this.assets.get(path);
    const isServed = asset !== undefined || path === PATH;
    const isRead = READS.has(request.method);
    if (isServed && !isRead) request.isServedReadOnly = true;
    if (!isServed || !isRead) {
      next();
      return undefined;
    }
    noteServed(request, path);
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (asset) return asset.send(request, response);
    // Relative, as all addresses of the page are: a proxy may have taken a prefix away.
    response.statusCode = 307;
    response.setHeader('Location', 'console/');
    response.setHeader('Content-Length', 0);
    response.end();
    return undefined;
  }
}

/** What it has in common with all pages. */
const OF_ALL_PAGES = new Set(['colours.css', 'mark.svg']);

/** Where a file lies below src, by its name. */
function fileOf(name: string): string {
  return OF_ALL_PAGES.has(name)
    ? `docs/pages/static/${name}`
    : `admin/console/static/${name === '' ? 'index.html' : name}`;
}
