import type { INestApplication } from '@nestjs/common';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../config/settings.js';
import { buildApiDocument } from './api-document.js';

const TITLE = 'Pet Store Service';

/** The page of the Swagger UI. Unlike the library's own it has no inline style, which a strict policy refuses. */
const PAGE = `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${TITLE}</title>
  <link rel="stylesheet" href="/docs/swagger-ui.css">
  <link rel="stylesheet" href="/docs/index.css">
  <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" sizes="32x32">
</head>
<body>
  <div id="swagger-ui"></div>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/swagger-ui-standalone-preset.js"></script>
  <script src="/docs/swagger-ui-init.js"></script>
</body>
</html>
`;

/** Serves the Swagger UI at /docs and the document at /docs/openapi.json and .yaml; it is built on first use. */
export function serveDocs(app: INestApplication): void {
  const policy = contentSecurityPolicy(app.get(Settings));
  app.use('/docs', (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('X-Frame-Options', 'DENY');
    const isPage = ['/', '/index.html'].includes(request.path) && ['GET', 'HEAD'].includes(request.method);
    if (isPage) response.type('html').send(PAGE);
    else next();
  });
  let document: OpenAPIObject | undefined;
  SwaggerModule.setup('docs', app, () => (document ??= buildApiDocument(app)), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    // The other layout has a bar for foreign documents, whose logo a strict policy refuses.
    swaggerOptions: { layout: 'BaseLayout', persistAuthorization: true, displayRequestDuration: true },
  });
}

/** Everything from here alone; "Try it out" may also call the servers that the document names. */
function contentSecurityPolicy({ publicBaseUrl, stagingBaseUrl }: Settings): string {
  const origins = [publicBaseUrl, stagingBaseUrl]
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
