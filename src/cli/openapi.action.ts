import { writeFile } from 'node:fs/promises';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, API_DOCUMENT } from '../docs/openapi/document-outlines.js';
import { buildDocument } from '../docs/openapi/document.js';
import { type Call, action } from './action.js';

interface Input {
  readonly admin: boolean;
  readonly account: boolean;
  readonly out?: string;
}

/** `petstore openapi`: the OpenAPI documents. */
export const openapi = action({
  run: async (app, { input: { admin, account, out } }: Call<Input>) => {
    const other = account ? ACCOUNT_DOCUMENT : API_DOCUMENT;
    const document = await buildDocument(app, admin ? ADMIN_DOCUMENT : other);
    if (out === undefined) return document;
    await writeFile(out, `${JSON.stringify(document, null, 2)}\n`);
    return undefined;
  },
  text: (document) => document && JSON.stringify(document, null, 2),
});
