import { expect, it } from 'vitest';
import { declaredScopes } from '../../src/auth/scopes.js';
import { openForTest } from '../support/opened.js';

it('every required field that is left out is told `required`, whatever kind of value it is', async () => {
  const service = await openForTest({ scopes: declaredScopes().map(({ name }) => name) });
  const asked: string[] = [];
  for (const { base, document } of service.documents)
    for (const [path, item] of Object.entries(document.paths))
      for (const method of ['post', 'put', 'patch'] as const) {
        const operation = item[method];
        const content =
          operation?.requestBody && 'content' in operation.requestBody && operation.requestBody.content;
        const [[type, { schema }] = ['', {}]] = Object.entries(content || {});
        const name = schema && '$ref' in schema ? schema.$ref.split('/').at(-1) : undefined;
        const named = document.components?.schemas?.[name ?? ''];
        const fields = named && 'required' in named ? (named.required ?? []) : [];
        if (fields.length === 0) continue;
        asked.push(`${operation?.operationId}: ${fields.join(', ')}`);
        // The bounds of self-service are asked anew.
        service.clock.advance(60_000);
        const { status, body } = await service.request(method.toUpperCase(), `${base}${path}`, {
          json: '{}',
          headers: { 'content-type': type },
        });
        expect([path, status]).toEqual([path, 400]);
        for (const field of fields)
          expect([path, body.details]).toEqual([
            path,
            expect.arrayContaining([{ field, code: 'required', message: 'This field is required.' }]),
          ]);
      }
  expect(asked).toEqual(
    expect.arrayContaining([
      'createPet: name, categoryId',
      'createOwnWebhook: url, events',
      'createClient: name, plan',
      'issueKey: clientId',
      'createWebhook: url, events, clientId',
    ]),
  );
});
