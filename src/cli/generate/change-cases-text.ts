import type { FeaturePlan, PlannedField } from './feature-plan.js';
import { changingState, constantOf, literal } from './resource-texts.js';
import { anOrA } from './table-texts.js';

/** That PATCH changes what nobody else has changed. */
export function updateCases({ feature, words, sent }: FeaturePlan): string {
  const field = sent.find(({ references }) => references === undefined) ?? sent[0];
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

/** That the state begins with the first, and goes the ways that there are. */
export function stateCases(plan: FeaturePlan): string {
  const { feature, error, words, state } = plan;
  if (!state) return '';
  const { property, values = [], initial } = state;
  const sent = `
it('begins with the ${property} ${initial}, which is not sent', async () => {
  const json = { ...NEW_${constantOf(error)}, ${property}: '${initial}' };
  const { status, body } = await service.request('POST', '/v1/${feature}', { json });
  expect([status, body.details]).toMatchObject([400, [{ field: '${property}', code: 'unknown_field' }]]);
});
`;
  if (!changingState(plan)) return sent;
  const last = values.at(-1);
  return `${sent}
it('takes ${anOrA(words)} from one ${property} to another, and not back', async () => {
  const { body } = await add();
  const become = (${property}: string) =>
    service.request('PATCH', \`/v1/${feature}/\${body.id}\`, { json: { ${property} }, headers: { 'If-Match': '*' } });
  for (const _ of ['once', 'again'])
    expect(await become('${last}')).toMatchObject({ status: 200, body: { ...body, ${property}: '${last}' } });
  const refused = await become('${initial}');
  expect([refused.status, refused.body.code]).toEqual([409, '${error}_state_conflict']);
  expect(refused.body.message).toMatch(/ is ${last}, and cannot become ${initial}/);
});
`;
}

function other({ property, samples }: PlannedField): string {
  return `{ ${property}: ${literal(samples[0])} }`;
}

/** That DELETE deletes once. */
export function deleteCase({ feature, words, error }: FeaturePlan): string {
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
