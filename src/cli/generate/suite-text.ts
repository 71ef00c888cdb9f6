import type { FeaturePlan, PlannedField } from './feature-plan.js';
import { constantOf, literal } from './resource-texts.js';
import { anOrA } from './table-texts.js';

/** The suite of a feature: what its operations promise, over HTTP. */
export function suiteText(plan: FeaturePlan): string {
  const { feature, constant, error, fields, operations } = plan;
  const isSeeded = fields.some(({ references }) => references !== undefined);
  const cases = [
    operations.has('create') && createCases(plan),
    operations.has('create') && operations.has('list') && listCase(plan),
    operations.has('create') && operations.has('update') && updateCases(plan),
    operations.has('create') && operations.has('delete') && deleteCase(plan),
    !operations.has('create') && readCase(plan),
  ];
  return `
const NEW_${constantOf(error)} = { ${fields.map((field) => `${field.property}: ${literal(field.samples[0])}`).join(', ')} };

let service: TestService;
beforeAll(async () => {
  service = await TestService.open({ scopes: Object.values(${constant}_SCOPES).map(({ name }) => name) });
  ${isSeeded ? '// So that there is something to refer to.\nawait service.seed();' : ''}
});
afterAll(() => service.close());

const add = () => service.request('POST', '/v1/${feature}', { json: NEW_${constantOf(error)} });
${cases.filter((text) => text !== false).join('\n')}
`
    .replace(operations.has('create') ? /$^/ : /\nconst add = .*\n/, '\n')
    .replace(operations.has('create') ? /$^/ : /\nconst NEW_.*\n/, '\n');
}

function createCases(plan: FeaturePlan): string {
  const { feature, error, words, fields, operations } = plan;
  const required = fields.find(({ isOptional, fallback }) => !isOptional && fallback === undefined);
  const reference = fields.find(({ references }) => references !== undefined);
  return `
it('adds ${anOrA(words)}${operations.has('get') ? ' and fetches it' : ''}', async () => {
  const created = await add();
  expect(created).toMatchObject({ status: 201, body: NEW_${constantOf(error)} });
  ${
    operations.has('get')
      ? `expect(created.headers.get('Location')).toBe(\`/v1/${feature}/\${created.body.id}\`);
  const fetched = await service.request('GET', \`/v1/${feature}/\${created.body.id}\`);
  expect(fetched.body).toEqual(created.body);`
      : ''
  }
});
${
  required === undefined
    ? ''
    : `
it('says what is missing of ${anOrA(words)}', async () => {
  const { status, body } = await service.request('POST', '/v1/${feature}', { json: { ...NEW_${constantOf(error)}, ${required.property}: undefined } });
  expect(status).toBe(400);
  expect(body.details).toMatchObject([{ field: '${required.property}', code: 'required' }]);
});
`
}${
    reference === undefined
      ? ''
      : `
it('refuses to refer to what is not there', async () => {
  const json = { ...NEW_${constantOf(error)}, ${reference.property}: 1_000_000 };
  const { status, body } = await service.request('POST', '/v1/${feature}', { json });
  expect(status).toBe(400);
  expect(body.details).toMatchObject([{ field: '${reference.property}', code: 'unknown_reference' }]);
});
`
  }${
    operations.has('get')
      ? `
it('says which ${words} is missing', async () => {
  const { status, body } = await service.request('GET', '/v1/${feature}/1000000');
  expect([status, body.code]).toEqual([404, '${error}_not_found']);
});
`
      : ''
  }`;
}

function listCase({ feature, error, manyWords, fields }: FeaturePlan): string {
  const filter = fields.find(({ values }) => values !== undefined);
  return `
it('lists ${manyWords}, page by page', async () => {
  const { body } = await add();
  const all = await service.everyPage('/v1/${feature}?limit=2');
  expect(all).toContainEqual(body);
  const latestFirst = await service.everyPage('/v1/${feature}?limit=2&sort=-id');
  expect(latestFirst).toEqual(all.toReversed());
});

it('finds every page by an index', async () => {
  expect(await unindexedLists(service)).toEqual([]);
});
${filter === undefined ? '' : filterCase(feature, error, manyWords, filter)}`;
}

function filterCase(feature: string, error: string, manyWords: string, field: PlannedField): string {
  const { property, samples } = field;
  return `
it('lists ${manyWords} of one ${property}', async () => {
  const json = { ...NEW_${constantOf(error)}, ${property}: '${samples[1]}' };
  const { body } = await service.request('POST', '/v1/${feature}', { json });
  const found = await service.everyPage('/v1/${feature}?${property}=${samples[1]}');
  expect(found).toContainEqual(body);
  expect(new Set(found.map(({ ${property} }) => ${property}))).toEqual(new Set(['${samples[1]}']));
});
`;
}

function updateCases({ feature, words, fields }: FeaturePlan): string {
  const field = fields.find(({ references }) => references === undefined) ?? fields[0];
  if (!field) return '';
  const json = `{ ${field.property}: ${literal(field.samples[field.references === undefined ? 1 : 0])} }`;
  return `
it('changes ${anOrA(words)} that nobody else has changed', async () => {
  const created = await add();
  const path = \`/v1/${feature}/\${created.body.id}\`;
  const headers = { 'If-Match': created.headers.get('ETag') ?? '' };
  const json = ${json};
  const changed = await service.request('PATCH', path, { json, headers });
  expect(changed).toMatchObject({ status: 200, body: { ...created.body, ...json } });
  const late = await service.request('PATCH', path, { json: ${other(field)}, headers });
  expect([late.status, late.body.code]).toEqual([412, 'precondition_failed']);
  const blind = await service.request('PATCH', path, { json });
  expect([blind.status, blind.body.code]).toEqual([428, 'precondition_required']);
});
`;
}

function other({ property, samples }: PlannedField): string {
  return `{ ${property}: ${literal(samples[0])} }`;
}

function deleteCase({ feature, words, error }: FeaturePlan): string {
  return `
it('deletes ${anOrA(words)} once', async () => {
  const { body } = await add();
  const path = \`/v1/${feature}/\${body.id}\`;
  expect((await service.request('DELETE', path)).status).toBe(204);
  const again = await service.request('DELETE', path);
  expect([again.status, again.body.code]).toEqual([404, '${error}_not_found']);
});
`;
}

function readCase({ feature, manyWords, operations, error }: FeaturePlan): string {
  return operations.has('list')
    ? `
it('lists ${manyWords}', async () => {
  await service.seed();
  expect((await service.everyPage('/v1/${feature}')).length).toBeGreaterThan(0);
});
`
    : `
it('says what is missing of the ${manyWords}', async () => {
  const method = '${operations.has('get') ? 'GET' : operations.has('delete') ? 'DELETE' : 'PATCH'}';
  const { body } = await service.request(method, '/v1/${feature}/1000000', { headers: { 'If-Match': '*' }, ${operations.has('get') || operations.has('delete') ? '' : 'json: {}'} });
  expect(body.code).toBe('${error}_not_found');
});
`;
}
