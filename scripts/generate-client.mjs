// Makes what the typed client in clients/typescript has of the OpenAPI documents: types, the table of operations and error classes.
// `npm run docs:generate` calls it with the documents of this service; for another one:
//   node scripts/generate-client.mjs --out <folder> <document.json> [<document.json> …]
// The first document is that of a version (`petstore openapi --out …`), further ones such as that of self-service may follow.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { errorClasses } from './client/error-classes.mjs';
import { operationTable } from './client/operation-table.mjs';
import { reducedDocument } from './client/reduced-document.mjs';
import { schemaTypes } from './client/schema-types.mjs';

/** Where the files are for the documents of this service, from the project's root. */
export const GENERATED = 'clients/typescript/src/generated';
const HEAD = '// Generated from the OpenAPI documents by `npm run docs:generate`; do not edit.\n';

/** The files by their names. Throws when the documents contradict each other. */
export async function clientFiles(documents) {
  const plain = JSON.parse(JSON.stringify(documents));
  const reduced = reducedDocument(plain);
  return {
    'schemas.ts': HEAD + (await schemaTypes(reduced)),
    'operations.ts': HEAD + operationTable(reduced),
    'errors.ts': HEAD + errorClasses(plain),
  };
}

/** Writes the files into a folder. */
export async function writeClientFiles(folder, documents) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await clientFiles(documents)))
    writeFileSync(join(folder, name), text);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    options: { out: { type: 'string' } },
    allowPositionals: true,
  });
  if (values.out === undefined || positionals.length === 0) {
    console.error(
      'Usage: node scripts/generate-client.mjs --out <folder> <document.json> [<document.json> …]',
    );
    process.exitCode = 2;
  } else {
    const documents = positionals.map((file) => JSON.parse(readFileSync(file, 'utf8')));
    await writeClientFiles(values.out, documents);
  }
}
