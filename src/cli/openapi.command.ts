import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { buildApiDocument } from '../openapi/api-document.js';
import { withApp } from './with-app.js';

/** `petstore openapi`: the OpenAPI document. */
export function addOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('write the OpenAPI document, as JSON')
    .option('--out <file>', 'file to write; default: standard output')
    .option('--json', 'no effect: the document is JSON')
    .action(async (options: { out?: string }) => {
      const document = await withApp((app) => Promise.resolve(buildApiDocument(app)));
      const text = `${JSON.stringify(document, null, 2)}\n`;
      if (options.out === undefined) process.stdout.write(text);
      else await writeFile(options.out, text);
    });
}
