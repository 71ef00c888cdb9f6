// @ts-check
// The Swagger UI of the page's document.
import { nameControls } from './accessible-names.js';
import { authorizeDialog, restoreKey } from './authorize-dialog.js';
import { exactJson } from './exact-json.js';
import { showLinkedOperation } from './linked-operation.js';
import { operations } from './operations.js';
import { pageLayout } from './page-layout.js';

// Defined by the library's script, which precedes this one on the page.
const { SwaggerUIBundle } = /** @type {any} */ (globalThis);
const container = /** @type {HTMLElement} */ (document.getElementById('swagger-ui'));
const ui = SwaggerUIBundle({
  url: new URL(container.dataset.document ?? '', document.baseURI).href,
  domNode: container,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [authorizeDialog, exactJson, operations, pageLayout],
  layout: 'PageLayout',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // The only dark theme whose colors all have enough contrast.
  syntaxHighlight: { activated: true, theme: 'tomorrow-night' },
  validatorUrl: null,
  onComplete: () => restoreKey(ui),
});
nameControls(container);
showLinkedOperation(container);
