import { deleteCase, stateCases, updateCases } from './change-cases-text.js';
import type { FeaturePlan, PlannedField } from './feature-plan.js';
import { constantOf, literal } from './resource-texts.js';
import { anOrA, searchedTogether } from './table-texts.js';

/** The suite of a feature: what its operations promise, over HTTP. */
export function suiteText(plan: FeaturePlan): string {
  const { feature, constant, error, fields, sent, operations } = plan;
  const isSeeded = fields.some(({ references }) => references !== undefined);
  const cases = [
    operations.has('create') && createCases(plan),
    operations.has('create') && operations.has('list') && listCase(plan),
    operations.has('create') && operations.has('update') && updateCases(plan),
    operations.has('create') && stateCases(plan),
    operations.has('create') && operations.has('delete') && deleteCase(plan),
    !operations.has('create') && readCase(plan),
  ];
  const text = cases.filter((one) => one !== false).join('\n');
  const name = `NEW_${constantOf(error)}`;
  const values = sent.map((field) => `${field.property}: ${literal(field.samples[0])}`).join(', ');
  return `
${operations.has('create') ? `const ${name} = { ${values} };` : ''}
${text.includes('MISSING') ? '/** The greatest id, which nothing has. */\nconst MISSING = 2n ** 63n - 1n;' : ''}

let service: TestService;
beforeAll(async () => {
  service = await TestService.open({ scopes: Object.values(${constant}_SCOPES).map(({ name }) => name) });
  ${isSeeded ? '// So that there is something to refer to.\nawait service.seed();' : ''}
});
afterAll(() => service.close());

${operations.has('create') ? `const add = () => service.request('POST', '/v1/${feature}', { json: ${name} });` : ''}
${text}
`;
}

function createCases(plan: FeaturePlan): string {
  const { feature, error, words, sent, state, operations } = plan;
  const required = sent.find(({ isOptional }) => !isOptional);
  const reference = sent.find(({ references }) => references !== undefined);
  return `
it('adds ${anOrA(words)}${operations.has('get') ? ' and fetches it' : ''}', async () => {
  const created = await add();
  expect(created).toMatchObject({ status: 201, body: ${state ? `{ ...NEW_${constantOf(error)}, ${state.property}: '${state.initial}' }` : `NEW_${constantOf(error)}`} });
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
  const json = { ...NEW_${constantOf(error)}, ${reference.property}: MISSING };
  const { status, body } = await service.request('POST', '/v1/${feature}', { json });
  expect(status).toBe(400);
  expect(body.details).toMatchObject([{ field: '${reference.property}', code: 'unknown_reference' }]);
});
`
  }${
    operations.has('get')
      ? `
it('says which ${words} is missing', async () => {
  const { status, body } = await service.request('GET', \`/v1/${feature}/\${MISSING}\`);
  expect([status, body.code]).toEqual([404, '${error}_not_found']);
});
`
      : ''
  }`;
}

function listCase(plan: FeaturePlan): string {
  const { feature, error, manyWords, fields } = plan;
  const filter = fields.find(({ values }) => values !== undefined);
  const together = searchedTogether(plan).map(
    (pair) => `[${pair.map(({ property }) => `'${property}'`).join(', ')}]`,
  );
  return `
it('lists ${manyWords}, page by page', async () => {
  const { body } = await add();
  const all = await service.everyPage('/v1/${feature}?limit=2');
  expect(all).toContainEqual(body);
  const latestFirst = await service.everyPage('/v1/${feature}?limit=2&sort=-id');
  expect(latestFirst).toEqual(all.toReversed());
});

it('finds every page by an index', async () => {
  expect(await unindexedLists(service${together.length === 0 ? '' : `, { together: { '/v1/${feature}': [${together.join(', ')}] } }`})).toEqual([]);
});
${filter === undefined ? '' : filterCase(feature, error, manyWords, filter)}`;
}

function filterCase(feature: string, error: string, manyWords: string, field: PlannedField): string {
  const { property, samples, initial } = field;
  const value = initial ?? samples[1];
  return `
it('lists ${manyWords} of one ${property}', async () => {
  ${
    initial === undefined
      ? `const json = { ...NEW_${constantOf(error)}, ${property}: '${value}' };
  const { body } = await service.request('POST', '/v1/${feature}', { json });`
      : 'const { body } = await add();'
  }
  const found = await service.everyPage('/v1/${feature}?${property}=${value}');
  expect(found).toContainEqual(body);
  expect(new Set(found.map(({ ${property} }) => ${property}))).toEqual(new Set(['${value}']));
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
  const { body } = await service.request(method, \`/v1/${feature}/\${MISSING}\`, { headers: { 'If-Match': '*' }, ${operations.has('get') || operations.has('delete') ? '' : 'json: {}'} });
  expect(body.code).toBe('${error}_not_found');
});
`;
}
