import { Controller, Get, Module, Param } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { DataSource } from 'typeorm';
import { type TestServiceOptions } from '../kit/test-service.js';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { INT64_MAX, INT64_MIN } from '../../src/database/int64.js';
import { JsonRows, type JsonText } from '../../src/database/json-rows.js';
import { Int64, Text } from '../../src/http/validation/fields.js';
import { Operation } from '../../src/http/declarations/operation.decorator.js';
import { Visit, VisitParams, VisitsModule } from '../support/visits.js';
import { faultsOf } from '../support/faults.js';
import { UNLIMITED, openForAll, openForTest } from '../support/opened.js';

/** Of columns that may be null, one as a field that is optional but not nullable. */
class NotedVisit {
  @Text({ maxLength: 1000, optional: true })
  note?: string | null;

  @Int64()
  id!: bigint;
}

const noted = (id: string, isList = false) =>
  Operation({
    id,
    summary: id,
    description: 'For a test.',
    responses: {
      status: 200,
      description: 'Visits',
      ...(isList ? { arrayOf: NotedVisit, schemaName: 'NotedVisits' } : { type: NotedVisit }),
    },
  });

@Controller({ path: 'noted', version: '1' })
@RequireScopes()
class NotedController {
  constructor(
    private readonly rows: JsonRows,
    private readonly dataSource: DataSource,
  ) {}

  @Get('row/:visitId')
  @noted('notedRow')
  row(@Param() { visitId }: VisitParams): Promise<JsonText<NotedVisit> | undefined> {
    return this.rows.one(Visit, NotedVisit, visitId);
  }

  @Get('rows/:visitId')
  @noted('notedRows', true)
  async page(@Param() { visitId }: VisitParams): Promise<JsonText<NotedVisit[]>> {
    return (await this.rows.page(Visit, NotedVisit, { limit: 2, after: [String(visitId)] })).items;
  }

  @Get('entity/:visitId')
  @noted('notedEntity')
  entity(@Param() { visitId }: VisitParams): Promise<NotedVisit> {
    return this.dataSource.getRepository(Visit).findOneByOrFail({ id: visitId });
  }
}

@Module({ controllers: [NotedController] })
class NotedModule {}

const OPTIONS: TestServiceOptions = {
  modules: [VisitsModule, NotedModule],
  ...UNLIMITED,
};
const VISIT = {
  reason: 'Vaccination',
  note: 'shy',
  state: 'requested',
  startsAt: '2026-12-01T09:00:00.000Z',
  priceCents: 4_500,
};
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

describe('one of a resource that is changed', async () => {
  const service = await openForAll({ ...OPTIONS, database: 'file' });

  /** A new visit, its address and its tag. */
  async function made(fields: object = {}): Promise<{ path: string; tag: string; body: object }> {
    const { status, headers, body } = await service.request('POST', '/v1/visits', {
      json: { ...VISIT, ...fields },
    });
    expect(status).toBe(201);
    return { path: headers.get('location') ?? '', tag: headers.get('etag') ?? '', body };
  }

  const patch = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    service.request('PATCH', path, { json, headers: { ...MERGE_PATCH, 'if-match': '*', ...headers } });

  it('leaves out a member that is null where its schema has no null', async () => {
    const [full, none] = [await made(), await made({ note: null })].map(({ body }) => body as { id: number });
    const [a = 0, b = 0] = [full?.id, none?.id];
    const read = async (path: string) => (await service.request('GET', `/v1/noted/${path}`)).text;
    expect(await read(`row/${a}`)).toBe(`{"note":"shy","id":${a}}`);
    for (const kind of ['row', 'entity']) expect(await read(`${kind}/${b}`)).toBe(`{"id":${b}}`);
    expect(await read(`rows/${a}`)).toBe(`[{"note":"shy","id":${a}},{"id":${b}}]`);
    // A nullable one is null.
    expect((await service.request('GET', `/v1/visits/${b}`)).body).toMatchObject({ note: null });
  });

  describe('the entity tag of a state', () => {
    it('is the same from POST, GET and PATCH', async () => {
      const { path, tag } = await made();
      expect(tag).toMatch(/^"[\w-]{22}"$/);
      const got = await service.request('GET', path);
      expect(got.headers.get('etag')).toBe(tag);
      const changed = await patch(path, { reason: 'Check' }, { 'if-match': tag });
      expect(changed.status).toBe(200);
      expect(changed.headers.get('etag')).not.toBe(tag);
      const again = await service.request('GET', path);
      expect([again.headers.get('etag'), again.text]).toEqual([changed.headers.get('etag'), changed.text]);
    });

    it('returns 304 from GET and HEAD when the client has it from a write', async () => {
      const { path, tag } = await made();
      for (const method of ['GET', 'HEAD']) {
        const headers = { 'if-none-match': tag };
        expect((await service.request(method, path, { headers })).status).toBe(304);
      }
      const { headers } = await patch(path, { note: null });
      expect((await service.request('GET', path, { headers: { 'if-none-match': tag } })).status).toBe(200);
      const present = headers.get('etag') ?? '';
      expect((await service.request('GET', path, { headers: { 'if-none-match': present } })).status).toBe(
        304,
      );
    });
  });

  describe('If-Match', () => {
    it.each([
      ['the tag', (tag: string) => tag, 200],
      ['a list with the tag', (tag: string) => `"other", ${tag}`, 200],
      ['the tag beside a weak one', (tag: string) => `W/${tag} , ${tag},`, 200],
      ['*', () => '*', 200],
      ['another tag', () => '"other"', 412],
      ['the tag as a weak one', (tag: string) => `W/${tag}`, 412],
      ['nothing', () => '', 412],
    ])('with %s', async (_case, fieldOf, expected) => {
      const { path, tag, body } = await made();
      const { status, body: response } = await patch(path, { reason: 'Check' }, { 'if-match': fieldOf(tag) });
      expect(status).toBe(expected);
      if (expected === 412) expect(response.code).toBe('precondition_failed');
      const { reason } = (await service.request('GET', path)).body;
      expect(reason).toBe(expected === 200 ? 'Check' : (body as typeof VISIT).reason);
    });

    it.each([
      ['the tag without its quotes', (tag: string) => tag.slice(1, -1)],
      ['no closing quote', (tag: string) => tag.slice(0, -1)],
      ['a list with something else', (tag: string) => `${tag}, foo`],
      ['* in a list', (tag: string) => `*, ${tag}`],
    ])('that is malformed gets 400 with its name, whatever else is wrong: %s', async (_case, fieldOf) => {
      const { path, tag } = await made();
      const headers = { 'if-match': fieldOf(tag) };
      const malformed = ['If-Match malformed_entity_tag'];
      expect(faultsOf(await patch(path, { reason: 'Check' }, headers))).toEqual(malformed);
      expect(faultsOf(await patch(path, { wrong: 1 }, headers))).toEqual([
        ...malformed,
        'wrong unknown_field',
      ]);
      expect(faultsOf(await service.request('DELETE', path, { headers }))).toEqual(malformed);
      expect((await service.request('GET', path)).headers.get('etag')).toBe(tag);
    });

    it('is needed where it is not optional: 428, before the body is looked at', async () => {
      const { path } = await made();
      for (const json of [{ reason: 'Check' }, { wrong: 1 }]) {
        const { status, body } = await service.request('PATCH', path, { json, headers: MERGE_PATCH });
        expect([status, body.code]).toEqual([428, 'precondition_required']);
      }
    });

    it('is joined by If-None-Match, which must not name what is there', async () => {
      const { path, tag } = await made();
      const change = (ifNoneMatch: string) =>
        patch(path, { reason: 'Check' }, { 'if-match': '*', 'if-none-match': ifNoneMatch });
      for (const field of ['*', tag, `W/${tag}`]) expect((await change(field)).status, field).toBe(412);
      expect((await change('bare')).body.details).toEqual([
        expect.objectContaining({ field: 'If-None-Match', code: 'malformed_entity_tag' }),
      ]);
      expect((await service.request('GET', path)).headers.get('etag')).toBe(tag);
      expect((await change('"other"')).status).toBe(200);
    });

    it('of a missing resource returns 404', async () => {
      const { status, body } = await patch('/v1/visits/999999', {});
      expect([status, body.code]).toEqual([404, 'visit_not_found']);
    });

    it('lets exactly one of twenty concurrent changes through', async () => {
      const { path, tag } = await made();
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_one, at) => patch(path, { note: `${at}` }, { 'if-match': tag })),
      );
      const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
      expect(statuses).toEqual([200, ...Array<number>(19).fill(412)]);
      const winner = responses.find(({ status }) => status === 200);
      expect((await service.request('GET', path)).text).toBe(winner?.text);
    });
  });

  describe('a merge patch', () => {
    it.each<[string, object, object]>([
      ['changes what is sent and nothing else', { reason: 'Check' }, { reason: 'Check' }],
      ['changes nothing when it is empty', {}, {}],
      ['keeps a field with a default that is not sent', { note: 'new' }, { note: 'new' }],
      ['removes a nullable field by null', { note: null }, { note: null }],
      ['takes several', { note: null, state: 'done' }, { note: null, state: 'done' }],
    ])('%s: %o', async (_case, json, expected) => {
      const { path, body } = await made({ state: 'confirmed' });
      const changed = await patch(path, json);
      expect([changed.status, changed.body]).toEqual([200, { ...body, ...expected }]);
      expect((await service.request('GET', path)).body).toEqual({ ...body, ...expected });
    });

    it('carries an int64 exactly', async () => {
      const { path } = await made();
      const price = '"priceCents":9223372036854775807';
      expect((await patch(path, `{${price}}`)).text).toContain(`${price},`);
      // The next one reads the row that holds it.
      expect((await patch(path, { reason: 'Check' })).text).toContain(`${price},`);
    });

    it.each<[unknown, string[]]>([
      [{ reason: null }, ['reason not_removable']],
      [{ priceCents: null, startsAt: null }, ['startsAt not_removable', 'priceCents not_removable']],
      [{ state: null }, ['state not_removable']],
      [{ reason: 5 }, ['reason not_a_string']],
      [{ reason: '' }, ['reason blank']],
      [{ state: 'lost' }, ['state not_allowed_value']],
      [{ priceCents: 1.5 }, ['priceCents not_an_integer']],
      ['{"priceCents":1.0}', ['priceCents not_an_integer']],
      [{ colour: 'red', Reason: 'x' }, ['colour unknown_field', 'Reason unknown_field']],
      [{ id: 5 }, ['id unknown_field']],
      ['{"prototype":{},"constructor":1}', ['prototype unknown_field', 'constructor unknown_field']],
      [[], [' not_an_object']],
      ['null', [' not_an_object']],
    ])('refuses %o: %o', async (json, faults) => {
      const { path, tag } = await made();
      const response = await patch(path, json);
      expect([response.status, faultsOf(response)]).toEqual([400, faults]);
      expect((await service.request('GET', path)).headers.get('etag')).toBe(tag);
    });

    it.each([
      ['application/merge-patch+json', 200],
      ['application/merge-patch+json; charset=utf-8', 200],
      ['application/merge-patch+json; charset=utf8', 200],
      ['Application/Merge-Patch+JSON', 200],
      ['application/json', 200],
      ['application/merge-patch+json; charset=latin1', 415],
      ['application/json-patch+json', 415],
      ['text/plain', 415],
    ])('of the type %s returns %i', async (type, expected) => {
      const { path } = await made();
      const { status, headers, body } = await patch(path, {}, { 'content-type': type });
      expect(status).toBe(expected);
      if (expected !== 415) return;
      expect(body.code).toBe('unsupported_media_type');
      expect(headers.get('accept-patch')).toBe('application/merge-patch+json, application/json');
    });

    it('is not taken for the body of a POST', async () => {
      const { status } = await service.request('POST', '/v1/visits', { json: VISIT, headers: MERGE_PATCH });
      expect(status).toBe(415);
    });
  });

  describe('DELETE', () => {
    it('returns 204 without a body, and then the resource no longer exists', async () => {
      const { path, tag } = await made();
      const headers = { 'if-match': tag };
      const { status, text, headers: responseHeaders } = await service.request('DELETE', path, { headers });
      expect([status, text]).toEqual([204, '']);
      for (const name of ['content-type', 'content-length', 'transfer-encoding', 'etag'])
        expect(responseHeaders.has(name), name).toBe(false);
      expect(responseHeaders.get('x-ratelimit-remaining')).not.toBeNull();
      for (const method of ['GET', 'DELETE']) expect((await service.request(method, path)).status).toBe(404);
      expect((await patch(path, {})).status).toBe(404);
    });

    it('heeds If-Match, which it does not need', async () => {
      const { path } = await made();
      const refused = await service.request('DELETE', path, { headers: { 'if-match': '"other"' } });
      expect([refused.status, refused.body.code]).toEqual([412, 'precondition_failed']);
      expect((await service.request('DELETE', path)).status).toBe(204);
    });
  });

  describe('with an Idempotency-Key', () => {
    it('a PATCH is done once and returns the same, tag included, although its If-Match is outdated by then', async () => {
      const { path, tag } = await made();
      const headers = { 'if-match': tag, 'idempotency-key': `patch ${path}` };
      const first = await patch(path, { reason: 'Check' }, { ...headers, 'idempotency-key': `p${path}` });
      expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
      await patch(path, { reason: 'Later' });
      const second = await patch(path, { reason: 'Check' }, { ...headers, 'idempotency-key': `p${path}` });
      expect([second.status, second.text]).toEqual([200, first.text]);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
      expect((await service.request('GET', path)).body.reason).toBe('Later');
    });

    it('a DELETE is done once and returns 204 again; a POST with its Location and ETag', async () => {
      const { path } = await made();
      const headers = { 'idempotency-key': `d${path}` };
      for (const replayed of [null, 'true']) {
        const response = await service.request('DELETE', path, { headers });
        expect([response.status, response.text, response.headers.get('idempotent-replayed')]).toEqual([
          204,
          '',
          replayed,
        ]);
      }
      const [first, second] = [await post(), await post()];
      for (const name of ['location', 'etag']) expect(second.headers.get(name)).toBe(first.headers.get(name));
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      function post() {
        return service.request('POST', '/v1/visits', {
          json: VISIT,
          headers: { 'idempotency-key': `c${path}` },
        });
      }
    });

    it('a refused precondition keeps nothing: the key serves for the next attempt', async () => {
      const { path, tag } = await made();
      const key = { 'idempotency-key': `r${path}` };
      expect((await patch(path, { note: 'x' }, { ...key, 'if-match': '"old"' })).status).toBe(412);
      expect((await patch(path, { note: 'x' }, { ...key, 'if-match': tag })).status).toBe(200);
    });
  });

  it('a path names its methods: 405, OPTIONS, and the types that PATCH takes', async () => {
    const { path } = await made();
    const replaced = await service.request('PUT', path, { json: VISIT });
    expect([replaced.status, replaced.headers.get('allow')]).toEqual([
      405,
      'DELETE, GET, HEAD, OPTIONS, PATCH',
    ]);
    const options = await service.request('OPTIONS', path);
    expect([options.status, options.headers.get('accept-patch')]).toEqual([
      204,
      'application/merge-patch+json, application/json',
    ]);
  });
});

it.each([INT64_MAX, INT64_MIN, 2n ** 53n + 1n])(
  'the id %s is exact in every operation on one',
  async (id) => {
    const service = await openForTest(OPTIONS);
    const path = `/v1/visits/${id}`;
    const neighbour = `/v1/visits/${id > 0n ? id - 1n : id + 1n}`;
    const headers = { 'if-match': '*' };
    const on = (method: string, at: string) =>
      service.request(method, at, { headers, ...(method === 'PATCH' ? { json: { note: null } } : {}) });
    for (const method of ['GET', 'PATCH', 'DELETE']) expect((await on(method, path)).status).toBe(404);
    const visits = service.app.get(DataSource).getRepository(Visit);
    await visits.insert({ ...VISIT, state: 'requested', id, priceCents: id });
    for (const method of ['GET', 'PATCH', 'DELETE']) expect((await on(method, neighbour)).status).toBe(404);
    expect((await on('GET', path)).text).toContain(`"id":${id}`);
    expect((await on('PATCH', path)).text).toMatch(new RegExp(`"note":null,.*"priceCents":${id}\\b`));
    expect((await on('DELETE', path)).status).toBe(204);
    expect((await on('GET', path)).status).toBe(404);
    await visits.restore({ id });
    expect((await visits.findOneByOrFail({ id })).priceCents).toBe(id);
  },
);
