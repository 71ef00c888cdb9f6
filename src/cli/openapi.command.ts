import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { ADMIN_DOCUMENT, API_DOCUMENT } from '../openapi/document-outlines.js';
import { buildDocument } from '../openapi/document.js';
import { examples } from './arguments.js';
import type { Shell } from './shell.js';

interface Options {
  readonly admin: boolean;
  readonly out?: string;
}

/** `petstore openapi`: the OpenAPI documents. */
export function addOpenApiCommand(program: Command, shell: Shell): void {
  program
    .command('openapi')
    .description('write the OpenAPI document, as JSON')
    .option('--admin', 'the document of the administration instead of that of the API', false)
    .option('--out <file>', 'file to write; default: standard output')
    .option('--json', 'no effect: the document is JSON')
    .addHelpText('after', examples('openapi --out openapi.json', 'openapi --admin'))
    .action(async ({ admin, out }: Options) => {
      const outline = admin ? ADMIN_DOCUMENT : API_DOCUMENT;
      const document = await shell.withApp((app) => Promise.resolve(buildDocument(app, outline)));
      const text = `${JSON.stringify(document, null, 2)}\n`;
      if (out === undefined) shell.write(text);
      else await writeFile(out, text);
    });
}
