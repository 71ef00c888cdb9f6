// @ts-check
// The Swagger UI of one document, which the page names.
import { nameControls } from './accessible-names.js';
import { exactJson } from './exact-json.js';
import { foldedProse } from './folded-prose.js';
import { keptKey, restoreKey } from './kept-key.js';
import { showLinkedOperation } from './linked-operation.js';
import { operations } from './operations.js';
import { responseHeaders } from './response-headers.js';

// Made by the library's script, which stands before this one in the page.
const { SwaggerUIBundle } = /** @type {any} */ (globalThis);
const place = /** @type {HTMLElement} */ (document.getElementById('swagger-ui'));
const ui = SwaggerUIBundle({
  url: new URL(place.dataset.document ?? '', document.baseURI).href,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [exactJson, foldedProse, keptKey, operations, responseHeaders],
  // The layout without a bar for foreign documents; the header of the page has those of the service.
  layout: 'BaseLayout',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  syntaxHighlight: { activated: true, theme: 'agate' },
  validatorUrl: null,
  onComplete: () => restoreKey(ui),
});
nameControls(place);
showLinkedOperation(place);
