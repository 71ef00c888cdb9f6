import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Application, Request, Response } from 'express';
import { operatorScopes } from '../../auth/scopes.js';
import { Settings } from '../../core/config/settings.js';
import { noteServed } from '../../http/request-records.js';
import { namesOfPageFiles, pageFile } from '../../docs/page-files.js';
import { escapeHtml } from '../../docs/pages/html.js';
import { ServedAsset } from '../../docs/pages/served-asset.js';
import { type ServedOptions, prefersHtml, servePage } from '../../docs/pages/served-pages.js';

const CONSOLE = '/console';
const ACCOUNT = '/account';

/** Folder of the pages' files, below the source root. */
const FOLDER = 'admin/console/static';
/** Files that these pages share with all others. */
const OF_ALL_PAGES = ['shared.css', 'mark.svg'];

/** Prevents injected markup from running scripts or sending a key elsewhere, and isolates the pages from those of other origins. */
const PROTECTED: ServedOptions = {
  policy: {
    'connect-src': `'self'`,
    'require-trusted-types-for': `'script'`,
    'trusted-types': `'none'`,
  },
  headers: {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'X-Content-Type-Options': 'nosniff',
    'X-Robots-Tag': 'noindex, nofollow',
  },
};

/**
 * Serves the pages for people with a key, from memory: the console of operators, unless CONSOLE is off, and the account of key holders.
 * They are static and contain no secret. They request everything from /admin or /account with the key that the user enters. Both pages
 * consist of the same files, whose scripts determine from the address which page to show.
 */
@Injectable()
export class KeyPages implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly settings: Settings,
  ) {}

  /** Redirects browsers from /account, which returns JSON to programs, to the page. Call it before Nest registers that route. */
  redirectBrowsers(application: Application): void {
    application.get(ACCOUNT, (request, response, next) => {
      if (prefersHtml(request, response)) redirectToPage(ACCOUNT, request, response);
      else next();
    });
  }

  /** Nest calls this when all routes are registered, so that the pages come after the routes and cost other requests nothing. */
  onModuleInit(): void {
    const adapter = this.adapterHost.httpAdapter as AbstractHttpAdapter | null;
    if (!adapter) return;
    const express = adapter.getInstance<Application>();
    const hasConsole = this.settings.console !== 'off';
    if (hasConsole) express.get(CONSOLE, (request, response) => redirectToPage(CONSOLE, request, response));
    const files = [
      ...namesOfPageFiles(FOLDER).map((name) => [FOLDER, name] as const),
      ...OF_ALL_PAGES.map((name) => ['docs/pages/static', name] as const),
    ];
    for (const [folder, name] of files) {
      const asset = new ServedAsset(name, () => this.load(folder, name));
      for (const path of hasConsole ? [CONSOLE, ACCOUNT] : [ACCOUNT])
        servePage(express, `${path}/${name === 'index.html' ? '' : name}`, asset, PROTECTED);
    }
  }

  /** Loads a file. Inserts into index.html the name of the API, and the scopes for the key of an operator. */
  private async load(folder: string, name: string): Promise<Buffer | string> {
    const file = await pageFile(`${folder}/${name}`);
    if (name !== 'index.html') return file;
    return String(file)
      .replaceAll('{title}', () => escapeHtml(this.settings.apiTitle))
      .replace('{scopes}', () => escapeHtml(operatorScopes()));
  }
}

/** Redirects to the page below a path. Relative, like all addresses of the pages, because a proxy may have removed a prefix. */
function redirectToPage(path: string, request: Request, response: Response): void {
  request.route = undefined;
  noteServed(request, path);
  response.statusCode = 307;
  response.setHeader('Location', `${path.slice(1)}/`);
  response.setHeader('Content-Length', 0);
  response.end();
}
