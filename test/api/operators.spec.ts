import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ManagementServer } from '../../src/core/metrics/management-server.js';
import { send } from '../kit/test-response.js';
import { printedBy } from '../support/orders.js';
import { openForAll, openForTest } from '../support/opened.js';
import { sendRaw } from '../support/raw-http.js';

const service = await openForAll();
const { key: admin } = await service.issueKey({ scopes: ['admin', 'account', 'pets:read'] });
const { key: reader } = await service.issueKey({ scopes: ['admin:read'] });

const order = (method: string, path: string, key = admin, json?: unknown, headers = {}) =>
  service.request(method, path, { key, headers, json });

describe('a key with the scope admin:read', () => {
  it('reads everything of the administration, and changes nothing', async () => {
    const { paths } = service.adminDocument;
    const outcomes = { read: [] as string[], refused: [] as string[] };
    for (const [template, item] of Object.entries(paths))
      for (const method of ['get', 'post', 'patch', 'put', 'delete'] as const) {
        if (!item[method]) continue;
        const path = `/admin${template.replace(/\{\w+\}/g, service.clientId)}`;
        const { body, status } = await order(method.toUpperCase(), path, reader);
        const isRefused = body?.code === 'insufficient_scope';
        expect([method, path, isRefused]).toEqual([method, path, method !== 'get']);
        expect(item[method]).toMatchObject({
          'x-required-scopes': [method === 'get' ? 'admin:read' : 'admin'],
        });
        outcomes[status === 403 ? 'refused' : 'read'].push(path);
      }
    expect(outcomes.read.length).toBeGreaterThan(8);
    expect(outcomes.refused.length).toBeGreaterThan(12);
  });

  it('is issued by a key with admin, which includes it, and by nobody for their own client', async () => {
    const scopes = ['admin:read'];
    const json = { clientId: service.clientId, scopes };
    expect((await order('POST', '/admin/keys', admin, json)).body).toMatchObject({ scopes });
    const own = await order('POST', '/account/keys', admin, { scopes });
    expect(own.body).toMatchObject({ code: 'scope_protected' });
    expect((await order('POST', '/admin/keys', reader, json)).body).toMatchObject({
      code: 'insufficient_scope',
    });
  });
});

describe('If-Match on a change of a client', () => {
  it('is accepted while the client is unchanged, whatever its usage, and refused with 412 afterwards', async () => {
    const path = `/admin/clients/${service.clientId}`;
    const seen = await order('GET', path);
    const etag = seen.headers.get('etag') ?? '';
    expect([etag, seen.headers.get('cache-control')]).toEqual([expect.stringMatching(/^"/), 'no-store']);
    await service.request('GET', '/v1/pets');
    expect((await order('GET', path)).headers.get('etag')).toBe(etag);
    const changed = await order('PATCH', path, admin, { name: 'One' }, { 'if-match': etag });
    expect([changed.status, changed.body.name]).toEqual([200, 'One']);
    const late = await order('PATCH', path, admin, { name: 'Two' }, { 'if-match': etag });
    expect([late.status, late.body.code]).toEqual([412, 'precondition_failed']);
    const next = { 'if-match': changed.headers.get('etag') ?? '' };
    expect((await order('PATCH', path, admin, { name: 'Test' }, next)).status).toBe(200);
    expect((await order('PATCH', path, admin, { name: 'Test' }, { 'if-match': '*' })).status).toBe(200);
  });
});

describe('the audit trail', async () => {
  const trail = await openForAll({ at: '2026-11-20T12:00:00.000Z' });
  const { id: operator, key } = await trail.issueKey({ scopes: ['admin'] });
  trail.clock.advance(86_400_000);
  const json = { name: '=1+1, "Shop"', plan: 'free' };
  const client: string = (await trail.request('POST', '/admin/clients', { key, json })).body.id;
  trail.clock.advance(3_600_000);
  await printedBy(trail, ['client', 'suspend', client]);
  const list = async (query: string) =>
    (await trail.request('GET', `/admin/audit?${query}`, { key })).body as Record<string, string>[];

  /** What the export has for the name of a client. */
  const nameInExport = async (name: string) => {
    const made = await trail.request('POST', '/admin/clients', { key, json: { name, plan: 'free' } });
    const { text } = await trail.request('GET', `/admin/audit/export?client=${made.body.id}`, { key });
    const [, quoted, plain] = /,(?:"((?:[^"]|"")*)"|([^",]*)),[\da-f-]{36},,[^\r]*\r\n$/.exec(text) ?? [];
    return plain ?? quoted?.replaceAll('""', '"');
  };
  const actions = (entries: Record<string, string>[]) => entries.map(({ action }) => action);

  it.each([
    ['client', () => `client=${client}`, ['client.suspended', 'client.created']],
    ['action', () => 'action=client.suspended', ['client.suspended']],
    ['kind of actor', () => 'actor=command_line', ['client.suspended']],
    ['key that was used', () => `actorKey=${operator}`, ['client.created']],
    ['address', () => 'from=127.0.0.1', ['client.created']],
    ['begin and end', () => 'since=2026-11-21T00:00:00Z&until=2026-11-21T13:00:00Z', ['client.created']],
    ['all of them', () => `client=${client}&action=client.created&actor=service`, []],
  ])('is filtered by %s', async (_, query, expected) => {
    expect(actions(await list(query()))).toEqual(expected);
  });

  it.each([
    ['actor', 'somebody', 'not_allowed_value'],
    ['actorKey', 'x', 'not_a_uuid'],
  ])('refuses the filter %s=%s', async (name, value, code) => {
    const { status, body } = await trail.request('GET', `/admin/audit?${name}=${value}`, { key });
    expect([status, body.details[0]]).toMatchObject([400, { field: name, code }]);
  });

  it('keeps its filters from page to page', async () => {
    const entries = await trail.everyPage(`/admin/audit?limit=1&client=${client}`, { key });
    expect(actions(entries)).toEqual(['client.suspended', 'client.created']);
  });

  it('is exported as CSV, in which no name is a formula, over HTTP and on the command line', async () => {
    const path = `/admin/audit/export?client=${client}`;
    const { status, headers, text } = await trail.request('GET', path, { key });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    const [titles, suspended, created, end] = text.split('\r\n');
    expect(titles).toBe(
      'id,at,action,actor,actorName,actorKeyId,from,requestId,clientName,clientId,keyId,details,keyPrefix,endpointName',
    );
    expect(suspended).toContain('2026-11-21T13:00:00.000Z,client.suspended,command_line,,');
    expect(created).toContain(`,"'=1+1, ""Shop""",${client},,"{""name"":`);
    expect(end).toBe('');
    const args = ['audit', 'export', '--client', '=1+1, "Shop"'];
    expect(await printedBy(trail, args)).toEqual({ code: 0, stdout: text, stderr: '' });
  });

  it.each(
    ['=1+1', '+1', '-1+2', '@SUM(1)', '＝1+1', '＋1', '－1', '＠SUM(1)', '﹦1', '−1'].concat(
      '"=1+1"',
      "'=1+1",
      '""＝1',
      '" =1',
    ),
  )('is exported as CSV in which the name %j is no formula', async (name) => {
    expect(await nameInExport(name)).toBe(`'${name}`);
  });

  it.each([
    ['Shop;=1+1', "Shop;'=1+1"],
    ['Shop\t+1', "Shop\t'+1"],
    ['Shop\n@SUM(1)', "Shop\n'@SUM(1)"],
    ['"Shop"; ＝1', `"Shop";' ＝1`],
    ['a;b', 'a;b'],
  ])(
    'is exported as CSV in which the name %j has no cell of a formula where ; or a tab separates cells',
    async (name, shown) => {
      expect(await nameInExport(name)).toBe(shown);
    },
  );

  it.each(['Shop = 1+1', 'a＝b', '"Shop"', 'me@shop.example', '（＋）'])(
    'is exported as CSV in which the name %j is as it was',
    async (name) => expect(await nameInExport(name)).toBe(name),
  );

  it('is exported completely, with any number of pages', async () => {
    const many = await openForTest();
    const { key: all } = await many.issueKey({ scopes: ['admin'] });
    const { clientId } = many;
    for (let made = 0; made < 510; made += 1)
      await printedBy(many, ['client', 'rename', clientId, '--name', `Name ${made}`]);
    const { text } = await many.request('GET', '/admin/audit/export?action=client.updated', { key: all });
    expect(text.split('\r\n')).toHaveLength(512);
  });
});

describe('ADMIN_ON', () => {
  const open = async (environment: Record<string, string>) => {
    const opened = await openForTest({ environment: { MANAGEMENT_PORT: '0', ...environment } });
    const { key } = await opened.issueKey({ scopes: ['admin'] });
    const port = await opened.app.get(ManagementServer).listen();
    const request = async (origin: string, path: string, options: Parameters<typeof send>[3] = {}) => {
      const { status, body, headers } = await send(origin, 'GET', path, { key, ...options });
      return { status, code: body?.code, headers };
    };
    return { opened, key, ask: request, management: `http://127.0.0.1:${port}` };
  };
  const PATHS = ['/admin/clients', '/admin/nothing', '/console/', '/console/console.js', '/%61dmin/clients'];

  it.each(['management', 'off'])(
    '%s: nothing of it is on the public port, with a key or without, and no key is looked at',
    async (adminOn) => {
      const { opened, ask: request } = await open({ ADMIN_ON: adminOn });
      for (const path of [...PATHS, '/admin', '/console'])
        for (const key of [undefined, null, 'pst_test_wrong'])
          expect([path, await request(opened.url, path, key === undefined ? {} : { key })]).toEqual([
            path,
            { status: 404, code: 'route_not_found', headers: expect.anything() },
          ]);
      const { headers } = await request(opened.url, '/admin/clients');
      expect(headers.get('x-ratelimit-limit')).toBe('60');
      expect((await request(opened.url, '/docs/admin', { key: null })).status).toBe(404);
      expect((await request(opened.url, '/account')).status).toBe(200);
      expect((await request(opened.url, '/v1/pets')).code).toBe('insufficient_scope');
    },
  );

  it('management: it is served on the management port with the same guards, quota and Error body', async () => {
    const { ask: request, management } = await open({ ADMIN_ON: 'management' });
    const listed = await request(management, '/admin/clients');
    expect([listed.status, listed.headers.get('x-ratelimit-limit')]).toEqual([200, '1000']);
    expect(await request(management, '/admin/clients', { key: null })).toMatchObject({
      code: 'missing_api_key',
    });
    expect(await request(management, '/admin/nothing')).toMatchObject({ status: 404 });
    expect((await request(management, '/console/', { key: null })).headers.get('content-type')).toMatch(
      /^text\/html/,
    );
    expect((await request(management, '/account')).status).toBe(200);
    expect((await request(management, '/metrics', { key: null })).status).toBe(200);
    for (const path of ['/v1/pets', '/docs', '/', '/health/live', '/adminx'])
      expect([path, await request(management, path)]).toMatchObject([
        path,
        { status: 404, code: 'route_not_found' },
      ]);
  });

  it('management: its links are those of the port, with any prefix before the path of the API', async () => {
    const environment = { ADMIN_ON: 'management', PUBLIC_BASE_URL: 'https://shop.example/store/v1' };
    const { opened, ask: request, management } = await open(environment);
    await opened.issueKey({ plan: 'pro' });
    const { headers } = await request(management, '/admin/clients?limit=1');
    const next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? '';
    expect(next).toMatch(/^\/admin\/clients/);
    expect((await request(management, next)).status).toBe(200);
  });

  it('public: the port of metrics refuses with the Error body, and needs no Host', async () => {
    const { management } = await open({});
    const request = (fields: string) =>
      sendRaw(management, `GET /metrics HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`);
    for (const fields of ['', 'Host: a\r\nExpect: other\r\n'])
      expect(await request(fields)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await sendRaw(management, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 405 [^]*Allow: \r\n[^]*"code":"method_not_allowed"/,
    );
    // A client that disconnects immediately ends only its connection.
    const socket = connect(Number(new URL(management).port), '127.0.0.1');
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    socket.resetAndDestroy();
    expect(await request('')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    [
      'public',
      ['http://a/metrics', 'http://a/metrics?x=1', '/%6detrics'],
      ['http://a/admin', '/metrics%2f', 'http:///metrics'],
    ],
    [
      'management',
      ['HTTP://a:1/%6detrics', 'http://a/admin/clients', '/%61dmin/clients'],
      ['http://a/v1/pets', '/v1/pets#/admin'],
    ],
  ])('%s: the management port reads targets as the other port does', async (adminOn, found, missing) => {
    const { management, key } = await open({ ADMIN_ON: adminOn });
    for (const target of [...found, ...missing]) {
      const fields = `Host: a\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
      const response = await sendRaw(management, `GET ${target} HTTP/1.1\r\n${fields}`);
      expect([target, response.slice(9, 12)]).toEqual([target, found.includes(target) ? '200' : '404']);
    }
  });

  it('off: it is nowhere', async () => {
    const { ask: request, management } = await open({ ADMIN_ON: 'off' });
    for (const path of PATHS) expect(await request(management, path)).toMatchObject({ status: 404 });
    expect((await request(management, '/metrics')).status).toBe(200);
  });

  it('management without a management port stops the start with a sentence', async () => {
    const opened = await openForTest({
      environment: { ADMIN_ON: 'management', MANAGEMENT_PORT: 'off' },
    });
    await expect(opened.app.get(ManagementServer).listen()).rejects.toThrow(
      'ADMIN_ON=management requires a MANAGEMENT_PORT, but it is off.',
    );
  });
});
