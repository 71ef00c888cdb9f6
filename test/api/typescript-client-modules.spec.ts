import { existsSync } from 'node:fs';
import { cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientFiles } from '../../scripts/generate-client.mjs';
import { TestService } from '../kit/test-service.js';
import { CLIENT, run } from '../support/packed-client.js';
import { ROOT, emptyFolder } from '../support/service-process.js';

/** What a team writes with the client of its service; returns what it saw. */
const USE = `
import { AdoptionNotFoundError, PetstoreClient, PetstoreError, PreconditionFailedError } from './index.js';

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => 'done', (error: unknown) => (error instanceof PetstoreError ? error.code : error));

export async function use(baseUrl: string, apiKey: string): Promise<unknown[]> {
  const client = new PetstoreClient({ baseUrl, apiKey, int64: 'string' });
  const petId = 1n;
  const { data, etag = '', location, status } = await client.exchange('requestAdoption', {
    body: { petId, adopterName: 'Ada' },
  });
  const id: string = data.id;
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
  return [
    [status, location === '/v1/adoptions/' + id, data.petId],
    [states, none, decided.state, late, deleted],
    [missing instanceof AdoptionNotFoundError, unconditional, PreconditionFailedError.name],
  ];
}
`;

/** The module of the example. A project may have removed it. */
const EXAMPLE = join(ROOT, 'examples/adoptions/src/adoptions.module.ts');

describe.skipIf(!existsSync(EXAMPLE))('the typed client of a service with its own module', () => {
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
    await symlink(join(ROOT, 'node_modules'), join(folder.path, 'node_modules'));
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
      [true, 'precondition_required', 'PreconditionFailedError'],
    ]);
  });
});

it('the generator finds int64 in circles, in parts, in maps, and where it may be null or something else', async () => {
  const int64 = { type: 'integer', format: 'int64' };
  const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const properties = {
    id: { ...int64, nullable: true },
    parent: { allOf: [refTo('Tree')] },
    counts: { type: 'object', additionalProperties: int64 },
    text: { type: 'string', format: 'int64' },
    either: { oneOf: [int64, { type: 'string' }] },
  };
  const schemas = {
    Tree: { type: 'object', properties },
    Both: { allOf: [refTo('Tree'), { type: 'object', properties: { more: int64 } }] },
    Plain: { type: 'object', properties: { name: { type: 'string' } } },
  };
  const get = (name: string) => {
    const content = { 'application/json': { schema: refTo(name) } };
    return { get: { operationId: `get${name}`, responses: { 200: { description: 'Done', content } } } };
  };
  const document = {
    openapi: '3.0.0',
    info: { title: 'x', version: '1' },
    servers: [{ url: 'https://api.example/shop/v1' }],
    paths: { '/both': get('Both'), '/plain': get('Plain') },
    components: { schemas },
  };
  const { 'operations.ts': table = '', 'schemas.ts': types = '' } = await clientFiles([document]);
  const lines = [...table.matchAll(/^  (\w+): (.*),$/gm)];
  expect(
    Object.fromEntries(lines.map(([, name, value = '']) => [name, JSON.parse(value) as unknown])),
  ).toEqual({
    Tree: [{ id: ['int64'], parent: ['Tree'], counts: [{ '*': ['int64'] }], either: ['int64', '?'] }],
    Both: ['Tree', { more: ['int64'] }],
    getBoth: expect.objectContaining({ path: '/v1/both', response: ['Both'] }),
    getPlain: expect.objectContaining({ path: '/v1/plain', response: [] }),
  });
  expect(types).toMatch(/id\?: bigint \| null;[^]*text\?: string;/);
});
