import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { declaredSettings } from '../../../src/core/config/define-settings.js';
import { errorCatalogue } from '../../../src/core/errors/define-errors.js';
import { GENERATED, clientFiles } from '../../../scripts/generate-client.mjs';
import { envExample } from '../../../scripts/env-example.mjs';
import { responseOf } from '../../kit/contract.js';
import { openForAll } from '../../support/opened.js';

const service = await openForAll();

const file = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('a generated file is as `npm run docs:generate` makes it', () => {
  it('docs/openapi.json', async () => {
    expect(await file('docs/openapi.json')).toBe(`${JSON.stringify(service.document, null, 2)}\n`);
  });

  it('docs/openapi-admin.json', async () => {
    expect(await file('docs/openapi-account.json')).toBe(
      `${JSON.stringify(service.accountDocument, null, 2)}\n`,
    );
    expect(await file('docs/openapi-admin.json')).toBe(`${JSON.stringify(service.adminDocument, null, 2)}\n`);
  });

  it('.env.example', async () => {
    expect(await file('.env.example')).toBe(envExample(declaredSettings()));
  });
});

/** A team may have removed the typed client. */
describe.skipIf(!existsSync(new URL(`../../../${GENERATED}`, import.meta.url)))(
  'what the typed client has of the documents is as `npm run docs:generate` makes it',
  () => {
    it.each(['schemas.ts', 'operations.ts', 'errors.ts'])('%s', async (name) => {
      const files = await clientFiles([service.document, service.accountDocument]);
      expect(Object.keys(files)).toContain(name);
      expect(await file(`${GENERATED}/${name}`)).toBe(files[name]);
    });
  },
);

describe('the error catalogue and the OpenAPI documents agree', () => {
  it('every code in a document is in the catalogue, with the same status', () => {
    const rows = new Map(errorCatalogue().map(({ code, status }) => [code, status]));
    const documented = documentedErrors();
    expect(documented.length).toBeGreaterThan(20);
    for (const { code, status } of documented) expect(rows.get(code), code).toBe(Number(status));
  });

  it('every code of the catalogue is in a document, except what is no operation’s own', () => {
    const documented = new Set(documentedErrors().map(({ code }) => code));
    const undocumented = errorCatalogue()
      .map(({ code }) => code)
      .filter((code) => !documented.has(code))
      // Documented as soon as an operation takes If-Match.
      .filter((code) => !code.startsWith('precondition_'));
    expect(undocumented).toEqual([
      'already_exists',
      'headers_too_large',
      'method_not_allowed',
      'reference_conflict',
      'request_timeout',
      'route_not_found',
      'uri_too_long',
    ]);
  });
});

function documentedErrors(): { code: string; status: string }[] {
  return service.documents.flatMap(({ document }) =>
    Object.values(document.paths)
      .flatMap((item) => [item.get ?? [], item.post ?? [], item.patch ?? [], item.delete ?? []].flat())
      .flatMap((operation) =>
        Object.keys(operation.responses).flatMap((status) => {
          const { content } = responseOf(operation, status, document);
          return Object.keys(content?.['application/json']?.examples ?? {}).map((code) => ({ code, status }));
        }),
      ),
  );
}
