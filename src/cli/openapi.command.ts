import { writeFile } from 'node:fs/promises';
import { ACCOUNT_DOCUMENT, ADMIN_DOCUMENT, API_DOCUMENT } from '../openapi/document-outlines.js';
import { buildDocument } from '../openapi/document.js';
import { type Call, command } from './command.js';
import { flag, option } from './options.js';

interface Input {
  readonly admin: boolean;
  readonly account: boolean;
  readonly out?: string;
}

/** `petstore openapi`: the OpenAPI documents. */
export const OPENAPI_COMMAND = command({
  name: 'openapi',
  description: 'write the OpenAPI document, as JSON',
  options: [
    flag('--admin', 'the document of the administration instead of that of the API'),
    flag('--account', 'the document of self-service'),
    option('--out <file>', 'file to write; default: standard output'),
    option('--json', 'no effect: the document is JSON'),
  ],
  examples: ['openapi --out openapi.json', 'openapi --admin', 'openapi --account'],
  run: async (app, { input: { admin, account, out } }: Call<Input>) => {
    const other = account ? ACCOUNT_DOCUMENT : API_DOCUMENT;
    const document = await buildDocument(app, admin ? ADMIN_DOCUMENT : other);
    if (out === undefined) return document;
    await writeFile(out, `${JSON.stringify(document, null, 2)}\n`);
    return undefined;
  },
  text: (document) => document && JSON.stringify(document, null, 2),
});
