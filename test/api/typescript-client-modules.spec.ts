import { existsSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientFiles } from '../../scripts/generate-client.mjs';
import { TestService } from '../kit/test-service.js';
import { CLIENT, run } from '../support/packed-client.js';
import { ROOT, emptyFolder } from '../support/service-process.js';

/** What a team writes with the client of its service; answers what it saw. */
const USE = `
import { AdoptionNotFoundError, PetstoreClient, PetstoreError, PreconditionFailedError } from './index.js';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => 'done', (error: unknown) => (error instanceof PetstoreError ? error.code : error));

export async function use(baseUrl: string, apiKey: string): Promise<unknown[]> {
  const client = new PetstoreClient({ baseUrl, apiKey, int64: 'string' });
  const petId = 1n;
  const { answer, etag = '', location, status } = await client.exchange('requestAdoption', {
    body: { petId, adopterName: 'Ada' },
  });
  const id: string = answer.id;
  const path = { adoptionId: id };
  const states: string[] = [];
  for await (const one of client.list('listAdoptions', { query: { petId, state: ['requested', 'approved'], limit: 1 } }))
    states.push(one.state);
  const none: unknown[] = [];
  for await (const one of client.list('listAdoptions', { query: { petId, state: ['expired'] } })) none.push(one);
  const decided = await client.call('decideAdoption', { path, header: { 'If-Match': etag }, body: { state: 'declined' } });
  const late = await codeOf(
    client.call('decideAdoption', { path, header: { 'If-Match': etag }, body: { state: 'approved' } }),
  );
  const deleted: undefined = await client.call('deleteAdoption', { path });
  const missing = await client.call('getAdoption', { path }).catch((error: unknown) => error);
  // @ts-expect-error -- the document requires the header
  const unconditional = await codeOf(client.call('decideAdoption', { path, body: { state: 'declined' } }));
  const wrong = await client
    .call('getAdoption', { path, header: { 'X-Other': '1' } } as never)
    .catch((error: unknown) => error instanceof TypeError);
  return [
    [status, location === '/v1/adoptions/' + id, answer.petId],
    [states, none, decided.state, late, deleted],
    [missing instanceof AdoptionNotFoundError, unconditional, wrong, PreconditionFailedError.name],
  ];
}
`;

/** The module of the example. A project may have removed it. */
const EXAMPLE = join(ROOT, 'examples/adoptions/src/adoptions.module.ts');

// A service with a feature of that name, such as docs/extending.md writes, cannot have the package as well.
describe.skipIf(existsSync(join(ROOT, 'src/adoptions')) || !existsSync(EXAMPLE))(
  'the typed client of a service with a module of its own',
  () => {
    let service: TestService;
    let folder: Awaited<ReturnType<typeof emptyFolder>>;
    beforeAll(async () => {
      const { AdoptionsModule } = (await import(/* @vite-ignore */ EXAMPLE)) as { AdoptionsModule: Type };
      service = await TestService.open({
        modules: [AdoptionsModule],
        scopes: ['pets:read', 'adoptions:read', 'adoptions:write', 'adoptions:decide'],
      });
      await service.seed(12);
      folder = await emptyFolder();
      await cp(CLIENT, folder.path, { recursive: true });
      await rm(join(folder.path, 'dist'), { recursive: true, force: true });
      const files = await clientFiles([service.document, service.accountDocument]);
      for (const [name, text] of Object.entries(files))
        await writeFile(join(folder.path, 'src/generated', name), text);
      await writeFile(join(folder.path, 'src/use.ts'), USE);
      await run(folder.path, process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.']);
    });
    afterAll(async () => {
      await service?.close();
      await folder?.remove();
    });

    it('calls its operations with their types: lists, preconditions, int64, refusals', async () => {
      const built = pathToFileURL(join(folder.path, 'dist/use.js')).href;
      const { use } = (await import(/* @vite-ignore */ built)) as {
        use: (baseUrl: string, apiKey: string) => Promise<unknown[]>;
      };
      expect(await use(`${service.url}/v1`, service.key)).toEqual([
        [201, true, '1'],
        [['requested'], [], 'declined', 'precondition_failed', undefined],
        [true, 'precondition_required', true, 'PreconditionFailedError'],
      ]);
    });
  },
);

describe('the generator of the typed client', () => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } });
  const answers = (schema: object) => ({ responses: { 200: { description: 'Done', ...json(schema) } } });
  const int64 = { type: 'integer', format: 'int64' };
  const document = (paths: object, schemas: object = {}, url = 'https://api.example/shop/v1') => ({
    openapi: '3.0.0',
    info: { title: 'x', version: '1' },
    servers: [{ url }],
    paths,
    components: { schemas },
  });

  /** The table that it makes. */
  async function tableOf(...documents: object[]) {
    const { 'operations.ts': text = '' } = await clientFiles(documents);
    const [, shapes = '', operations = ''] =
      /SHAPES[^=]*= (\{[^]*?\});\n[^]*OPERATIONS = (\{[^]*\}) as const/.exec(text) ?? [];
    return {
      shapes: JSON.parse(shapes) as object,
      operations: JSON.parse(operations) as Record<string, { path: string; answer: unknown; body: unknown }>,
    };
  }

  it('finds int64 wherever a schema has it: in circles, in parts, in maps, where it may be null', async () => {
    const schemas = {
      Tree: {
        type: 'object',
        properties: {
          id: { ...int64, nullable: true },
          parent: { allOf: [{ $ref: '#/components/schemas/Tree' }] },
          counts: { type: 'object', additionalProperties: int64 },
          text: { type: 'string', format: 'int64' },
        },
      },
      Both: {
        allOf: [{ $ref: '#/components/schemas/Tree' }, { type: 'object', properties: { more: int64 } }],
      },
      Plain: { type: 'object', properties: { name: { type: 'string' } } },
    };
    const both = { operationId: 'getBoth', ...answers({ $ref: '#/components/schemas/Both' }) };
    const plain = { operationId: 'getPlain', ...answers({ $ref: '#/components/schemas/Plain' }) };
    const { shapes, operations } = await tableOf(
      document({ '/both': { get: both }, '/plain': { get: plain } }, schemas),
    );
    expect(shapes).toEqual({
      Tree: { fields: { id: 'int64', parent: { schema: 'Tree' }, counts: { fields: {}, others: 'int64' } } },
      Both: { all: [{ schema: 'Tree' }, { fields: { more: 'int64' } }] },
    });
    expect(operations['getBoth']?.answer).toEqual({ schema: 'Both' });
    expect(operations['getPlain']?.answer).toBeNull();
    const { 'schemas.ts': types = '' } = await clientFiles([document({ '/both': { get: both } }, schemas)]);
    expect(types).toMatch(/id\?: Int64 \| null;/);
    expect(types).toMatch(/text\?: string;/);
  });

  it('puts the paths of several documents behind one address, whatever stands before the version', async () => {
    const get = (operationId: string) => ({ get: { operationId, ...answers({ type: 'object' }) } });
    const { operations } = await tableOf(
      document({ '/toys': get('listToys') }),
      document({ '/account': get('getAccount') }, {}, 'https://api.example/shop'),
      document({ '/keys': get('listKeys') }, {}, 'https://api.example/shop/admin'),
    );
    expect(Object.values(operations).map(({ path }) => path)).toEqual([
      '/v1/toys',
      '/account',
      '/admin/keys',
    ]);
  });

  it('leaves out what neither takes nor answers JSON', async () => {
    const file = {
      operationId: 'getFile',
      responses: { 200: { description: 'x', content: { 'image/png': {} } } },
    };
    const upload = { operationId: 'putFile', requestBody: { content: { 'image/png': {} } }, ...answers({}) };
    const { operations } = await tableOf(document({ '/file': { get: file, put: upload } }));
    expect(operations).toEqual({});
  });

  it.each([
    ['no version', [document({}, {}, 'https://api.example')], /no version/],
    [
      'two schemas of one name',
      [
        document({}, { Toy: { type: 'object' } }),
        document({}, { Toy: { type: 'string' } }, 'https://api.example/shop'),
      ],
      /another schema by the name Toy/,
    ],
    [
      'two operations of one name',
      [
        document({ '/a': { get: { operationId: 'same', ...answers({}) } } }),
        document({ '/b': { get: { operationId: 'same', ...answers({}) } } }, {}, 'https://api.example/shop'),
      ],
      /operationId same/,
    ],
  ])('refuses documents with %s', async (_, documents, why) => {
    await expect(clientFiles(documents)).rejects.toThrow(why);
  });

  it('names classes after codes, and no class twice', async () => {
    const refused = (code: string) => ({
      description: 'x',
      content: { 'application/json': { examples: { [code]: { summary: 'Why. */', value: { code } } } } },
    });
    const get = { operationId: 'a', ...answers({}) };
    const made = document({
      '/a': {
        get: {
          ...get,
          responses: { ...get.responses, 404: refused('timeout'), 500: refused('internal_error') },
        },
      },
    });
    const { 'errors.ts': text = '' } = await clientFiles([made]);
    expect(text).toContain('export class RefusedTimeoutError extends');
    expect(text).toContain('export class InternalError extends');
    expect(text).not.toContain('Why. */ */');
  });
});
