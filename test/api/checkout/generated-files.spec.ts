import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { declaredSettings } from '../../../src/core/config/define-settings.js';
import { envExample } from '../../../src/core/config/env-example.js';
import { GENERATED, absentOperations, clientFiles } from '../../../scripts/generate-client.mjs';
import { openForAll } from '../../support/opened.js';

const service = await openForAll();

const file = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('a generated file is as `npm run docs:generate` writes it', () => {
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

const client = fileURLToPath(new URL(`../../../${GENERATED}`, import.meta.url));
const documents = [service.document, service.accountDocument];

// A team may have removed the typed client.
describe.skipIf(!existsSync(client))('the typed client', () => {
  // Or the operations that its own code calls.
  it
    .skipIf(existsSync(client) && absentOperations(client, documents).length > 0)
    .each(['schemas.ts', 'operations.ts', 'errors.ts'])(
    'contains of the documents what `npm run docs:generate` writes: %s',
    async (name) => {
      const files = await clientFiles(documents);
      expect(Object.keys(files)).toContain(name);
      expect(await file(`${GENERATED}/${name}`)).toBe(files[name]);
    },
  );

  it('stays as it is where the documents lack what its own code calls', () => {
    const { '/pets': _, '/pets/{petId}': __, ...paths } = service.document.paths;
    const others = [{ ...service.document, paths }, service.accountDocument];
    expect(absentOperations(client, others)).toEqual(['listPets', 'createPet', 'getPet']);
  });
});
