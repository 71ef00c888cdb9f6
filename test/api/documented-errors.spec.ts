import { describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../src/core/errors/define-errors.js';
import { responseOf } from '../kit/contract.js';
import { openForAll } from '../support/opened.js';

const service = await openForAll();

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
