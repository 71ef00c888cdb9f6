import type { INestApplication } from '@nestjs/common';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../config/settings.js';
import { ADMIN_DOCUMENT, API_DOCUMENT, type DocumentOutline } from './document-outlines.js';
import { buildDocument } from './document.js';

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
  <script src="${docsPath}/swagger-ui-standalone-preset.js"></script>
  <script src="${docsPath}/swagger-ui-init.js"></script>
</body>
</html>
`;

/** Serves each document and its Swagger UI, at /docs and at /docs/admin; a document is built on first use. */
export function serveDocs(app: INestApplication): void {
  // The inner path first: the outer one's files are looked for below it too.
  for (const outline of [ADMIN_DOCUMENT, API_DOCUMENT]) serveDocument(app, outline);
}

function serveDocument(app: INestApplication, outline: DocumentOutline): void {
  const policy = contentSecurityPolicy(app.get(Settings), outline);
  const page = pageOf(outline);
  app.use(outline.docsPath, (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('X-Frame-Options', 'DENY');
    const isPage = ['/', '/index.html'].includes(request.path) && ['GET', 'HEAD'].includes(request.method);
    if (isPage) response.type('html').send(page);
    else next();
  });
  const path = outline.docsPath.slice(1);
  let document: OpenAPIObject | undefined;
  SwaggerModule.setup(path, app, () => (document ??= buildDocument(app, outline)), {
    jsonDocumentUrl: `${path}/openapi.json`,
    yamlDocumentUrl: `${path}/openapi.yaml`,
    // The other layout has a bar for foreign documents, whose logo a strict policy refuses.
    swaggerOptions: { layout: 'BaseLayout', persistAuthorization: true, displayRequestDuration: true },
  });
}

/** Everything from here alone; "Try it out" may also call the servers that the document names. */
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
