import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Injectable, type INestApplication, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../config/settings.js';
import { API_DOCUMENT, type DocumentOutline, outlinesOf } from './document-outlines.js';
import { buildDocument } from './document.js';
import { ServedAsset } from './served-asset.js';

const READS = new Set(['GET', 'HEAD']);
const PNG = 'image/png';

/** The files of the package swagger-ui-dist that its page loads, with their types; no other file of it is served. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': PNG,
};

/** The page of the Swagger UI. Unlike the library's own it has no inline style, which a strict policy refuses. */
const pageOf = ({ title, docsPath }: DocumentOutline): string => `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <link rel="stylesheet" href="${docsPath}/swagger-ui.css">
  <link rel="stylesheet" href="${docsPath}/index.css">
  <link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png" sizes="32x32">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="${docsPath}/swagger-ui-bundle.js"></script>
  <script src="${docsPath}/swagger-ui-init.js"></script>
</body>
</html>
`;

/** The layout without a bar for foreign documents, whose logo a strict policy refuses. */
const scriptOf = ({ docsPath }: DocumentOutline): string => `window.ui = SwaggerUIBundle({
  url: '${docsPath}/openapi.json',
  dom_id: '#swagger-ui',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  persistAuthorization: true,
  displayRequestDuration: true,
});
`;

/** Something to serve, and the policy that goes with it. */
interface Served {
  readonly asset: ServedAsset;
  readonly policy: string;
}

/** Serves each document and its Swagger UI, at /docs, /docs/admin, and /docs/v2 for another version, from memory; a document is built on first use. */
@Injectable()
export class SwaggerUi implements OnModuleInit {
  private application: INestApplication | undefined;
  private readonly served = new Map<string, Served>();

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly settings: Settings,
  ) {}

  /** Names the application whose operations the documents describe; without it nothing is served. */
  documents(application: INestApplication): void {
    this.application = application;
  }

  /** Nest calls this when all routes are registered: the docs stand behind them, where they cost other requests nothing. */
  onModuleInit(): void {
    const { application } = this;
    if (!application) return;
    const files = new Map(
      Object.entries(FILES).map(([name, type]) => [
        name,
        new ServedAsset(type, () => fileOf(name), type !== PNG),
      ]),
    );
    for (const outline of outlinesOf(application)) this.add(application, outline, files);
    this.adapterHost.httpAdapter.use(
      API_DOCUMENT.docsPath,
      (request: Request, response: Response, next: NextFunction) => this.serve(request, response, next),
    );
  }

  private add(
    application: INestApplication,
    outline: DocumentOutline,
    files: ReadonlyMap<string, ServedAsset>,
  ): void {
    const { docsPath } = outline;
    const policy = contentSecurityPolicy(this.settings, outline);
    const serve = (path: string, asset: ServedAsset) => this.served.set(docsPath + path, { asset, policy });
    for (const [name, asset] of files) serve(`/${name}`, asset);
    const page = new ServedAsset('text/html; charset=utf-8', () => pageOf(outline));
    for (const path of ['', '/', '/index.html']) serve(path, page);
    serve('/swagger-ui-init.js', new ServedAsset('text/javascript; charset=utf-8', () => scriptOf(outline)));
    let built: OpenAPIObject | undefined;
    const document = (): OpenAPIObject => (built ??= buildDocument(application, outline));
    serve(
      '/openapi.json',
      new ServedAsset('application/json; charset=utf-8', () => JSON.stringify(document())),
    );
    const yaml = async () => (await import('yaml')).stringify(document(), { aliasDuplicateObjects: false });
    serve('/openapi.yaml', new ServedAsset('text/yaml; charset=utf-8', yaml));
  }

  private serve(request: Request, response: Response, next: NextFunction): Promise<void> | undefined {
    const path = request.originalUrl.split('?', 1)[0] ?? '';
    const served = READS.has(request.method) ? this.served.get(path) : undefined;
    if (!served) {
      next();
      return undefined;
    }
    response.setHeader('Content-Security-Policy', served.policy);
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('X-Frame-Options', 'DENY');
    return served.asset.send(request, response);
  }
}

/** A file of the Swagger UI's package. */
function fileOf(name: string): Promise<Buffer> {
  return readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
}

/** Allows resources from this origin alone; "Try it out" may also call the servers that the document names. */
function contentSecurityPolicy(
  { publicBaseUrl, stagingBaseUrl }: Settings,
  { serverOf }: DocumentOutline,
): string {
  const origins = [publicBaseUrl, stagingBaseUrl]
    .map(serverOf)
    .filter((url) => URL.canParse(url))
    .map((url) => new URL(url).origin);
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data:`,
    `connect-src ${["'self'", ...new Set(origins)].join(' ')}`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
