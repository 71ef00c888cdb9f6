import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import type { Application, Request, Response } from 'express';
import { declaredScopes } from '../../auth/scopes.js';
import { Settings } from '../../core/config/settings.js';
import { noteServed } from '../../http/request-records.js';
import { namesOfPageFiles, pageFile } from '../../docs/page-files.js';
import { escapeHtml } from '../../docs/pages/html.js';
import { ServedAsset } from '../../docs/pages/served-asset.js';
import { type ServedOptions, prefersHtml, servePage } from '../../docs/pages/served-pages.js';

const CONSOLE = '/console';
const ACCOUNT = '/account';

/** Where its files are, below the source root. */
const FOLDER = 'admin/console/static';
/** Files that it shares with all pages. */
const OF_ALL_PAGES = ['shared.css', 'mark.svg'];

/** Injected markup can neither run nor send a key anywhere, and no other page reaches these. */
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
 * Serves the pages for people with a key, from memory: the console of operators, unless CONSOLE is off, and the account of key holders. They
 * are static and contain no secret: they request everything from /admin or /account with the key that the user enters. Both are
 * the same files, which recognize by their address which page they are.
 */
@Injectable()
export class KeyPages implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly settings: Settings,
  ) {}

  /** Registers the redirect of a browser from /account, which programs get as JSON; to be called before Nest registers that route. */
  redirectBrowsers(application: Application): void {
    application.get(ACCOUNT, (request, response, next) => {
      if (prefersHtml(request, response)) redirectToPage(ACCOUNT, request, response);
      else next();
    });
  }

  /** Nest calls this when all routes are registered: the pages come after them, where they cost other requests nothing. */
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

  /** A file; the page gets the name of the API and the scopes of an operator who may pass on what keys get by default. */
  private async load(folder: string, name: string): Promise<Buffer | string> {
    const file = await pageFile(`${folder}/${name}`);
    if (name !== 'index.html') return file;
    const granted = declaredScopes().filter(({ grantedByDefault }) => grantedByDefault);
    const scopes = ['admin', ...granted.map((scope) => scope.name)].join(',');
    return String(file)
      .replaceAll('{title}', () => escapeHtml(this.settings.apiTitle))
      .replace('{scopes}', () => escapeHtml(scopes));
  }
}

/** Redirects to the page below a path. Relative, like all addresses of the pages: a proxy may have removed a prefix. */
function redirectToPage(path: string, request: Request, response: Response): void {
  request.route = undefined;
  noteServed(request, path);
  response.statusCode = 307;
  response.setHeader('Location', `${path.slice(1)}/`);
  response.setHeader('Content-Length', 0);
  response.end();
}
