import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from 'petstore-service/testing';

let service: TestService;
beforeAll(async () => {
  service = await TestService.open();
});
afterAll(() => service.close());

/** The tables of the specification, transcribed by hand. */
const SPECIFICATION = [
  {
    operation: 'listPets',
    method: 'get',
    path: '/pets',
    statuses: ['200', '401', '429'],
    parameters: [
      {
        name: 'limit',
        in: 'query',
        required: false,
        schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
      },
      { name: 'status', in: 'query', required: false, schema: { $ref: '#/components/schemas/PetStatus' } },
    ],
    added: ['query cursor', 'header If-None-Match'],
    body: undefined,
    success: ['200', '#/components/schemas/Pets'],
  },
  {
    operation: 'createPet',
    method: 'post',
    path: '/pets',
    statuses: ['201', '400', '401', '429'],
    parameters: [],
    added: ['header Idempotency-Key'],
    body: '#/components/schemas/NewPet',
    success: ['201', '#/components/schemas/Pet'],
  },
  {
    operation: 'getPet',
    method: 'get',
    path: '/pets/{petId}',
    statuses: ['200', '401', '404', '429'],
    parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
    added: ['header If-None-Match'],
    body: undefined,
    success: ['200', '#/components/schemas/Pet'],
  },
] as const;

// The document is plain JSON here; its library's types would only get in the way.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;

/** The paths of the pet operations in the document. */
function petsPaths(): Json {
  const paths = Object.entries(service.document.paths);
  return Object.fromEntries(paths.filter(([path]) => /^\/pets(\/|$)/.test(path)));
}

/** The names of schemas referenced by a part of the document, directly or indirectly. */
function referencedFrom(part: Json, schemas: Json, found = new Set<string>()): string[] {
  for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
    if (found.has(name)) continue;
    found.add(name);
    referencedFrom(schemas[name], schemas, found);
  }
  return [...found].toSorted();
}

describe('the OpenAPI document of the Pet Store', () => {
  it('has the specification’s operations and no other', () => {
    const found = Object.entries(petsPaths()).flatMap(([path, item]) =>
      Object.entries(item as Json).map(
        ([method, operation]: [string, Json]) => `${operation.operationId} ${method} ${path}`,
      ),
    );
    expect(found.toSorted()).toEqual(
      SPECIFICATION.map(({ operation, method, path }) => `${operation} ${method} ${path}`).toSorted(),
    );
  });

  it.each(SPECIFICATION)(
    'has $operation as specified',
    ({ method, path, statuses, parameters, added, body, success }) => {
      const operation = (service.document.paths[path] as Json)[method];
      // Additions to the specification are optional, so that clients that do not know them keep working.
      const additions = operation.parameters.slice(parameters.length);
      expect(additions.map(({ name, in: place }: Json) => `${place} ${name}`)).toEqual(added);
      expect(additions.every(({ required }: Json) => required === false)).toBe(true);
      for (const parameter of parameters) {
        expect(operation.parameters).toContainEqual(
          expect.objectContaining({ ...parameter, schema: expect.objectContaining(parameter.schema) }),
        );
      }
      expect(operation.requestBody?.content['application/json'].schema.$ref).toBe(body);
      if (body) expect(operation.requestBody.required).toBe(true);
      const responses = service.document.components?.responses as Json;
      const responseOf = (status: string) => {
        const { $ref = '', ...response } = operation.responses[status];
        return responses[$ref.split('/').at(-1)] ?? response;
      };
      expect(responseOf(success[0]).content['application/json'].schema.$ref).toBe(success[1]);
      for (const status of statuses) {
        expect(responseOf(status).headers, status).toMatchObject({
          'X-RateLimit-Limit': { $ref: '#/components/headers/X-RateLimit-Limit' },
          'X-RateLimit-Remaining': { $ref: '#/components/headers/X-RateLimit-Remaining' },
          'X-RateLimit-Reset': { $ref: '#/components/headers/X-RateLimit-Reset' },
        });
        if (Number(status) < 400) continue;
        expect(responseOf(status).content['application/json'].schema.$ref).toBe('#/components/schemas/Error');
      }
      expect(responseOf('429').headers['Retry-After']).toBeDefined();
      for (const text of [operation.summary, operation.description]) expect(text).toMatch(/\w/);
    },
  );

  it('has the specification’s schemas and no other', () => {
    const schemas = service.document.components?.schemas as Json;
    expect(referencedFrom(petsPaths(), schemas)).toEqual(['Error', 'NewPet', 'Pet', 'PetStatus', 'Pets']);
    expect(schemas.PetStatus).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] });
    expect(schemas.NewPet.required).toEqual(['name', 'categoryId']);
    expect(Object.keys(schemas.NewPet.properties)).toEqual(['name', 'categoryId', 'status']);
    expect(schemas.NewPet.properties.categoryId).toMatchObject({ type: 'integer', format: 'int64' });
    const defaults = Object.values(schemas.NewPet.properties).map((field: Json) => field.default);
    expect(defaults).toEqual([undefined, undefined, 'available']);
    expect(schemas.Pet.required).toEqual(['id', 'name', 'categoryId']);
    expect(Object.keys(schemas.Pet.properties)).toEqual(['id', 'name', 'categoryId', 'status']);
    expect(schemas.Pet.properties.id).toMatchObject({ type: 'integer', format: 'int64' });
    expect(schemas.Pets).toEqual({ type: 'array', items: { $ref: '#/components/schemas/Pet' } });
    expect(schemas.Error.required).toEqual(['code', 'message', 'status']);
    expect(schemas.Error.properties.status.type).toBe('integer');
  });

  it('deprecates only getPet', () => {
    const paths = petsPaths();
    expect([paths['/pets/{petId}'].get.deprecated, paths['/pets'].get.deprecated]).toEqual([true, undefined]);
  });

  it('has a sample of an animal that can be added again and again', () => {
    const { NewPet } = (service.document as Json).components.schemas;
    const { name, categoryId, status } = NewPet.properties;
    expect([name.example, categoryId.example, status.default]).toEqual(['Biscuit', 1, 'available']);
  });

  it('reports which names are taken', () => {
    const { NewPet } = (service.document as Json).components.schemas;
    const { pattern, minLength, maxLength, description } = NewPet.properties.name;
    expect([minLength, maxLength]).toEqual([1, 255]);
    expect(description).toMatch(/blank.*NUL.*surrogate/);
    for (const name of ['a', ' a ', 'a\nb', '🐕', 'لولو', '.']) expect(name).toMatch(new RegExp(pattern));
    for (const name of ['', ' ', '\t\u00a0', 'a\0', '\0']) expect(name).not.toMatch(new RegExp(pattern));
  });
});
