import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/clients/scopes.js';
import { TestService } from '../kit/test-service.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** An operation, and what it requires beside its path. */
interface Requiring {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly fields: readonly string[];
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

let service: TestService;
beforeAll(async () => {
  const scopes = declaredScopes().map(({ name }) => name);
  service = await TestService.open({ scopes });
});
afterAll(() => service.close());

/** Every operation of the documents that requires a field of its body or a parameter of its query. */
function requiring(): Requiring[] {
  return service.documents.flatMap(({ base, document }) =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        if (!operation) return [];
        const [type, fields] = requiredOf(operation, document);
        if (fields.length === 0) return [];
        return [{ id: operation.operationId ?? '', method, path: `${base}${path}`, type, fields }];
      }),
    ),
  );
}

/** The media type of the body, and what is required of body and query. */
function requiredOf(
  { requestBody, parameters = [] }: Operation,
  { components }: OpenAPIObject,
): [string | undefined, string[]] {
  const query = parameters.flatMap((one) =>
    'in' in one && one.in === 'query' && one.required ? [one.name] : [],
  );
  const content = requestBody && 'content' in requestBody ? requestBody.content : {};
  const [[type, { schema = {} }] = [undefined, {}]] = Object.entries(content);
  return [type, [...query, ...fieldsOf(schema, components?.schemas ?? {})]];
}

function fieldsOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): readonly string[] {
  if (!('$ref' in schema)) return schema.required ?? [];
  return fieldsOf(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
}

describe('every required field that is left out', () => {
  it('is told `required`, whatever kind of value it is', async () => {
    const found = requiring();
    expect(found.map(({ id, fields }) => `${id}: ${fields.join(', ')}`)).toEqual([
      'createPet: name, categoryId',
      'createOwnWebhook: url, events',
      'createClient: name, plan',
      'issueKey: clientId',
      'createWebhook: url, events, clientId',
    ]);
    for (const { id, method, path, type = '', fields } of found) {
      // The bounds of self-service are asked anew.
      service.clock.advance(60_000);
      const { status, body } = await service.request(method.toUpperCase(), path, {
        json: '{}',
        headers: { 'content-type': type },
      });
      expect([id, status]).toEqual([id, 400]);
      for (const field of fields)
        expect([id, body.details]).toEqual([
          id,
          expect.arrayContaining([{ field, code: 'required', message: 'This field is required.' }]),
        ]);
    }
  });
});
