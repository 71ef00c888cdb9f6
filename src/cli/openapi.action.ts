import { writeFile } from 'node:fs/promises';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, API_DOCUMENT } from '../docs/openapi/document-outlines.js';
import { buildDocument } from '../docs/openapi/document.js';
import { writeExactJson } from '../core/exact-json.js';
import type { Call } from './frame/call.js';

/** `petstore openapi`: the OpenAPI documents. */
export async function openapi(call: Call): Promise<void> {
  const { admin, account, out } = call.options;
  const outline = admin ? ADMIN_DOCUMENT : account ? ACCOUNT_DOCUMENT : API_DOCUMENT;
  const document = buildDocument(await call.start('none'), outline);
  const text = writeExactJson(document, 2);
  if (out === undefined) await call.show(document, () => text);
  else await writeFile(out, `${text}\n`);
}
