import { describe, expect, it } from 'vitest';
import { errorCatalogue, placeholdersOf } from '../../src/core/errors/define-errors.js';
import { responseOf } from '../kit/contract.js';
import { openForAll, openForTest } from '../support/opened.js';

// The documents are plain JSON here; their library's types would only be in the way.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

// 31 seconds before the minute is over, as the examples have it.
const service = await openForAll({ plan: 'free', at: '2026-11-20T12:00:29.000Z' });

interface Example {
  readonly operation: string;
  readonly status: string;
  readonly code: string;
  readonly value: Json;
}

/** Every example of a refusal, of all documents. */
function examples(): Example[] {
  return service.documents.flatMap(({ document }) =>
    Object.values(document.paths as Json)
      .flatMap((item) => Object.values(item as Json))
      .flatMap((operation: Json) =>
        Object.keys(operation.responses).flatMap((status) =>
          Object.entries<Json>(
            responseOf(operation, status, document).content?.['application/json']?.examples ?? {},
          ).map(([code, example]) => ({
            operation: operation.operationId,
            status,
            code,
            value: example.value,
          })),
        ),
      ),
  );
}

describe('the example of a refusal', () => {
  it('is an Error as it is sent: nothing in its message is left out', () => {
    const all = examples();
    expect(all.length).toBeGreaterThan(200);
    for (const { operation, status, code, value } of all) {
      const where = `${operation} ${code}`;
      expect([where, value.code, String(value.status)]).toEqual([where, code, status]);
      expect(value.message, where).not.toMatch(/…|\{\w+\}|<(?!API_KEY>)\w+>/);
      expect(value.details !== undefined, where).toBe(code === 'validation_failed');
    }
  });

  it('has a value for every place of a message, in every row of the catalogue', () => {
    expect(errorCatalogue().length).toBeGreaterThan(30);
    for (const { code, message, example = {} } of errorCatalogue())
      expect([code, Object.keys(example).toSorted()]).toEqual([code, placeholdersOf(message)]);
  });

  const exampleOf = (operation: string, code: string): Json =>
    examples().find((example) => example.operation === operation && example.code === code)?.value;

  it.each([
    ['missing_api_key', 'GET', '/v1/pets', { key: null }],
    ['validation_failed', 'GET', '/v1/pets?limit=101', {}],
    ['not_acceptable', 'GET', '/v1/pets', { headers: { accept: 'text/html' } }],
    ['malformed_json', 'POST', '/v1/pets', { headers: { 'content-type': 'application/json' } }],
    ['unsupported_media_type', 'POST', '/v1/pets', { json: '{}', headers: { 'content-type': 'text/plain' } }],
    ['payload_too_large', 'POST', '/v1/pets', { json: `"${'a'.repeat(102_400)}"` }],
    ['pet_not_found', 'GET', '/v1/pets/5', {}],
  ])('is what the service returns: %s', async (code, method, path, options) => {
    const operation =
      { POST: 'createPet', GET: path.startsWith('/v1/pets/') ? 'getPet' : 'listPets' }[method] ?? '';
    const { body } = await service.request(method, path, options);
    expect(body).toEqual(exampleOf(operation, code));
  });

  it('names the scope of the operation', async () => {
    const { key } = await service.issueKey({ scopes: ['pets:read'] });
    const { body } = await service.request('POST', '/v1/pets', { key, json: '{}' });
    expect(body).toEqual(exampleOf('createPet', 'insufficient_scope'));
  });

  it('is that of the free plan when its minute is used up', async () => {
    let response = await service.request('GET', '/v1/pets');
    while (response.status === 200) response = await service.request('GET', '/v1/pets');
    expect(response.body).toEqual(exampleOf('listPets', 'rate_limit_exceeded'));
  });

  it('describes the removal as the operation will', async () => {
    const later = await openForTest({ at: '2030-12-05T00:00:00.000Z' });
    const { body } = await later.request('GET', '/v1/pets/1');
    expect(body).toEqual(exampleOf('getPet', 'operation_removed'));
  });
});
