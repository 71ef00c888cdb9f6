import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OperationObject } from '../../src/docs/openapi/document-outlines.js';
import { responseOf } from '../kit/contract.js';
import { describeRefusals } from '../support/refusal-table.js';
import { type TestServiceOptions } from '../kit/test-service.js';
import { Visit, VisitsModule } from '../support/visits.js';
import { UNLIMITED, openForTest } from '../support/opened.js';

const OPTIONS: TestServiceOptions = { modules: [VisitsModule], ...UNLIMITED };
const VISIT = {
  reason: 'Vaccination',
  note: 'shy',
  state: 'requested',
  startsAt: '2026-12-01T09:00:00.000Z',
  priceCents: 4_500,
};
function bodyOf(operation: OperationObject | undefined): { readonly content: object } {
  return operation?.requestBody as { readonly content: object };
}

function parameterOf(operation: OperationObject | undefined, wanted: string): { readonly required: boolean } {
  const parameters = (operation?.parameters ?? []) as { name: string; required: boolean }[];
  const found = parameters.find(({ name }) => name === wanted);
  if (!found) throw new Error(`There is no parameter ${wanted}.`);
  return found;
}

describe('the declared operations', () => {
  it('return a Location below the path of PUBLIC_BASE_URL, as a relative reference', async () => {
    const environment = { PUBLIC_BASE_URL: 'https://shop.example/animals/v1' };
    const service = await openForTest({ ...OPTIONS, environment });
    const visit = await service.request('POST', '/v1/visits', { json: VISIT });
    expect(visit.headers.get('location')).toBe(`/animals/v1/visits/${visit.body.id}`);
    const { key } = await service.issueKey({ scopes: ['account', 'admin', 'pets:read', 'pets:write'] });
    const order = { clientId: service.clientId, scopes: ['pets:read'] };
    for (const [path, json] of [
      ['/v1/pets', { name: 'Rex', categoryId: 1 }],
      ['/admin/clients', { name: 'A', plan: 'free' }],
      ['/admin/keys', order],
      ['/account/keys', { scopes: ['account'] }],
    ] as const) {
      const { headers, body } = await service.request('POST', path, { key, json });
      expect(headers.get('location')).toBe(`/animals${path}/${body.id}`);
    }
    const { body: issued } = await service.request('POST', '/admin/keys', { key, json: order });
    const rotated = await service.request('POST', `/admin/keys/${issued.id}/rotate`, { key, json: {} });
    expect(rotated.headers.get('location')).toBe(`/animals/admin/keys/${rotated.body.id}`);
  });

  it('are documented: 204, media types, If-Match, 412, 428, ETag and Location', async () => {
    const service = await openForTest(OPTIONS);
    const { '/visits': all, '/visits/{visitId}': one } = service.document.paths;
    const schemas = service.document.components?.schemas;
    expect(one?.delete?.responses['204']).toMatchObject({ description: 'The visit was deleted' });
    expect(one?.delete?.responses['204']).not.toHaveProperty('content');
    expect(one?.delete?.responses).toHaveProperty('412');
    expect(one?.delete?.responses).not.toHaveProperty('428');
    expect(one?.patch?.responses).toMatchObject({
      200: { headers: { ETag: { required: true } } },
      412: {},
      428: {},
    });
    expect(responseOf(one?.patch as OperationObject, '415', service.document)).toHaveProperty(
      'headers.Accept-Patch',
    );
    expect(Object.keys(bodyOf(one?.patch).content)).toEqual([
      'application/merge-patch+json',
      'application/json',
    ]);
    const need = (operation: OperationObject | undefined) => parameterOf(operation, 'If-Match').required;
    expect([need(one?.patch), need(one?.delete)]).toEqual([true, false]);
    expect(all?.post?.responses['201']).toMatchObject({
      headers: { ETag: { required: true }, Location: { required: true } },
    });
    expect(schemas?.['VisitPatch']).toMatchObject({ additionalProperties: false });
    expect(schemas?.['VisitPatch']).not.toHaveProperty('required');
    expect(schemas?.['VisitPatch']).toHaveProperty('properties.note.nullable', true);
    expect(schemas?.['VisitPatch']).not.toHaveProperty('properties.state.default');
    expect(JSON.stringify(service.document)).not.toContain('x-if-match');
  });
});

it('a precondition that is checked outside of a transaction is a defect, and changes nothing', async () => {
  const service = await openForTest(OPTIONS);
  const { headers } = await service.request('POST', '/v1/visits', { json: VISIT });
  const dataSource = service.app.get(DataSource);
  const withoutTransaction = (work: () => Promise<unknown>) => work();
  const transaction = vi.spyOn(dataSource, 'transaction').mockImplementation(withoutTransaction as never);
  onTestFinished(() => transaction.mockRestore());
  const { status } = await service.request('PATCH', headers.get('location') ?? '', {
    json: { note: 'x' },
    headers: { 'if-match': '*' },
  });
  expect(status).toBe(500);
  expect(await dataSource.getRepository(Visit).countBy({ note: 'x' })).toBe(0);
});

describeRefusals({ modules: [VisitsModule] }, ['/v1/visits']);
