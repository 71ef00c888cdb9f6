import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import { Injectable, type INestApplication, type OnModuleInit } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { Application } from 'express';
import { originOf, reachedAt } from '../../core/config/listen-errors.js';
import { Settings } from '../../core/config/settings.js';
import { errorCatalogue } from '../../core/errors/define-errors.js';
import { writeExactJson } from '../../core/exact-json.js';
import { escapeHtml } from '../pages/html.js';
import { type Site, layout, relativeTo } from '../pages/layout.js';
import { guideText } from '../pages/guide-page.js';
import { GUIDE_LINKS, addReaderPages } from '../pages/reader-pages.js';
import { SEARCH, searchPage } from '../pages/search-page.js';
import { ServedAsset } from '../pages/served-asset.js';
import { servePage } from '../pages/served-pages.js';
import {
  ADMIN_DOCUMENT,
  API_DOCUMENT,
  type DocumentOutline,
  outlinesOf,
  titleOf,
} from './document-outlines.js';
import { buildDocument } from './document.js';
import { type ExampleOperations, exampleOperations } from './example-operations.js';
import { serversOf } from './servers.js';

/** The files of the swagger-ui-dist package that its page loads; no others are served. */
const LIBRARY = ['swagger-ui.css', 'swagger-ui-bundle.js'];

const DOCS = API_DOCUMENT.docsPath;

/** The formats of a document. */
const FORMS = {
  '/openapi.json': (document: OpenAPIObject) => writeExactJson(document),
  '/openapi.yaml': async (document: OpenAPIObject) =>
    (await import('yaml')).stringify(document, { aliasDuplicateObjects: false }),
};

/** Serves each document, built on first use, its Swagger UI below /docs, and the other pages for people, from memory. */
@Injectable()
export class SwaggerUi implements OnModuleInit {
  private application: INestApplication | undefined;
  private ofApi: (() => OpenAPIObject) | undefined;

  constructor(private readonly settings: Settings) {}

  /** Sets the application that the documents describe; without it, nothing is served. */
  documents(application: INestApplication): void {
    this.application = application;
  }

  /** The operations used by examples; empty before the application is initialized. */
  examples(): ExampleOperations {
    return this.ofApi ? exampleOperations(this.ofApi()) : {};
  }

  /** Nest calls this when all routes are registered. */
  onModuleInit(): void {
    const { application, settings } = this;
    if (!application) return;
    const express = application.getHttpAdapter().getInstance() as Application;
    for (const name of LIBRARY)
      servePage(express, `${DOCS}/${name}`, new ServedAsset(name, () => fileOfLibrary(name)));
    const outlines = outlinesOf(application).filter(
      (outline) => outline !== ADMIN_DOCUMENT || settings.adminOn === 'public',
    );
    const site: Site = {
      name: settings.apiTitle,
      documents: outlines.map((outline) => ({ label: labelOf(outline), path: outline.docsPath })),
      guides: GUIDE_LINKS,
    };
    const documents = outlines.map((outline) => this.add(application, outline, site));
    this.ofApi = documents[0]?.document;
    const { apiDescription, apiKeyPrefix, apiVersion, nodeEnv, publicBaseUrl, host, port } = settings;
    const server = application.getHttpServer() as Server;
    const facts = {
      api: () => new URL(publicBaseUrl, server.listening ? reachedAt(server) : originOf(host, port)).href,
      apiVersion,
      description: apiDescription,
      hasConsole: settings.console === 'on' && settings.adminOn === 'public',
      key: `${apiKeyPrefix}_${nodeEnv === 'production' ? 'live' : 'test'}_…`,
      examples: () => this.examples(),
    };
    const search = async () => {
      const built = documents.map(({ docsPath, document }) => ({ docsPath, document: document() }));
      return layout(site, searchPage(built, errorCatalogue(), await guideText(facts)));
    };
    servePage(express, SEARCH.path, new ServedAsset('.html', search));
    addReaderPages(express, site, facts, publicBaseUrl);
  }

  /** Serves a document and its page; returns a function that builds the document once. */
  private add(application: INestApplication, outline: DocumentOutline, site: Site) {
    const { docsPath } = outline;
    const policy = { 'connect-src': connectSources(this.settings, outline) };
    const express = application.getHttpAdapter().getInstance() as Application;
    const serve = (path: string, asset: ServedAsset) =>
      servePage(express, docsPath + path, asset, { policy });
    // Separate pages, because relative links resolve differently at /docs and /docs/.
    for (const path of ['', '/', '/index.html'])
      serve(path, new ServedAsset('.html', () => pageOf(outline, docsPath + path, site, this.settings)));
    let built: OpenAPIObject | undefined;
    const document = () => (built ??= buildDocument(application, outline));
    for (const [name, write] of Object.entries(FORMS))
      serve(name, new ServedAsset(name, () => write(document())));
    return { docsPath, document };
  }
}

/** The label of a document in the header: `API`, `API v2`, or its part of the service. */
function labelOf({ prefix, part }: DocumentOutline): string {
  if (prefix === API_DOCUMENT.prefix) return 'API';
  return part === '' ? `API ${prefix.slice(1)}` : part.charAt(0).toUpperCase() + part.slice(1);
}

/** The page of a document for one of its paths. Unlike the library's page, it has no inline styles, which a strict policy refuses. */
function pageOf(outline: DocumentOutline, path: string, site: Site, settings: Settings): string {
  const { docsPath } = outline;
  const to = (target: string) => escapeHtml(relativeTo(path, target));
  const document = to(`${docsPath}/openapi.json`);
  return layout(site, {
    title: titleOf(outline, settings),
    path,
    entryPath: docsPath,
    styles: [`${DOCS}/assets/docs.css`],
    main: `  <main id="main" tabindex="-1">
    <div id="swagger-ui" data-document="${document}"></div>
    <p class="raw">The document itself: <a href="${document}">openapi.json</a>,
      <a href="${to(`${docsPath}/openapi.yaml`)}">openapi.yaml</a></p>
    <noscript><p class="raw">This page needs JavaScript. The document and the guides do not.</p></noscript>
  </main>`,
    scripts: [`${DOCS}/swagger-ui-bundle.js`],
    modules: [`${DOCS}/assets/docs.js`],
  });
}

/** A file of the Swagger UI's package. */
function fileOfLibrary(name: string): Promise<Buffer> {
  return readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
}

/** Origins that "Try it out" may call: this one, and the document's servers. */
function connectSources(settings: Settings, outline: DocumentOutline): string {
  const origins = serversOf(settings, outline)
    .map(({ url }) => url)
    .filter((url) => URL.canParse(url))
    .map((url) => new URL(url).origin);
  return ["'self'", ...new Set(origins)].join(' ');
}
