import { randomUUID } from 'node:crypto';
import { Controller, Get, Header, Module, Post, Put } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { openForAll } from '../support/opened.js';
import { sendRaw } from '../support/raw-http.js';

/** How often the handler without a decorator of the service ran. */
let plain = 0;

@Controller({ path: 'reports', version: '1' })
class ReportsController {
  @Get('csv')
  @Header('Content-Type', 'text/csv')
  csv(): string {
    return 'a,b\n';
  }

  @Post('plain')
  change(): object {
    plain += 1;
    return {};
  }

  @Put('plain')
  replace(): object {
    return this.change();
  }

  @Get('fresh')
  @Header('Cache-Control', 'no-store')
  fresh(): object {
    return { at: 1 };
  }
}
@Module({ controllers: [ReportsController] })
class ReportsModule {}

const service = await openForAll({
  modules: [ReportsModule],
  scopes: ['pets:read', 'pets:write', 'admin'],
});
for (const name of ['Rex', 'Max', 'Sam'])
  await service.request('POST', '/v1/pets', { json: { name, categoryId: 1 } });

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  service.request(method, path, { headers });

it.each(['/v1/pets', '/v1/pets?limit=2', '/v1/pets/1', '/admin/audit', '/v1/reports/csv'])(
  '%s has a strong ETag for one client, returns 304 to those that have it, and 412 to those with another state',
  async (path) => {
    const { status, headers } = await get(path);
    const tag = headers.get('etag') ?? '';
    expect(status).toBe(200);
    expect(tag).toMatch(/^"[\w-]{22}"$/);
    expect([headers.get('cache-control'), headers.get('vary')]).toEqual([
      'private, no-cache',
      'Authorization',
    ]);
    const again = await get(path, { 'if-none-match': `"other", W/${tag}` });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
    for (const name of ['cache-control', 'vary', 'link', 'deprecation', 'sunset'])
      expect(again.headers.get(name), name).toBe(headers.get(name));
    expect([again.headers.get('content-type'), again.headers.get('content-length')]).toEqual([null, null]);
    expect(Number(again.headers.get('x-ratelimit-remaining'))).toBeLessThan(
      Number(headers.get('x-ratelimit-remaining')),
    );
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', tag]);
    for (const method of ['GET', 'HEAD']) {
      expect((await get(path, { 'if-none-match': tag }, method)).status).toBe(304);
      for (const field of ['"other"', `W/${tag}`, '', tag.slice(1)]) {
        const refused = await get(path, { 'if-match': field, 'if-none-match': tag }, method);
        expect([refused.status, refused.headers.get('etag')], field).toEqual([412, null]);
        if (method === 'GET') expect(refused.body.code).toBe('precondition_failed');
      }
      for (const field of ['*', tag, `"other", ${tag}`])
        expect((await get(path, { 'if-match': field }, method)).status, field).toBe(200);
      expect((await get(path, { 'if-match': tag, 'if-none-match': tag }, method)).status).toBe(304);
    }
  },
);

describe('an ETag', () => {
  it('changes with the body, and with the link to a next page', async () => {
    const tagOf = async (path: string) => (await get(path)).headers.get('etag');
    const before = { three: await tagOf('/v1/pets?limit=3'), all: await tagOf('/v1/pets') };
    await service.request('POST', '/v1/pets', { json: { name: 'New', categoryId: 1 } });
    const { headers } = await get('/v1/pets?limit=3', { 'if-none-match': before.three ?? '' });
    // The same three animals, but now a page follows.
    expect(headers.get('link')).toContain('rel="next"');
    expect(headers.get('etag')).not.toBe(before.three);
    expect(await tagOf('/v1/pets')).not.toBe(before.all);
  });

  it.each([
    ['a refusal', 'GET', '/v1/pets/99', 404],
    ['a creation', 'POST', '/v1/pets', 201],
    ['what is healthy', 'GET', '/health/live', 200],
    ['what says otherwise', 'GET', '/v1/reports/fresh', 200],
  ])('is not on %s', async (_, method, path, expected) => {
    const json = method === 'POST' ? { name: 'a', categoryId: 1 } : undefined;
    const { status, headers } = await service.request(method, path, {
      json,
      headers: { 'if-none-match': '*' },
    });
    expect([status, headers.get('etag')]).toEqual([expected, null]);
    if (status >= 400) expect(headers.get('cache-control')).toBe('no-store');
  });
});

it('an If-None-Match is ignored where no tag is sent', async () => {
  // By hand: with the field, fetch() sends a Cache-Control that asks for the whole.
  const head = 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\nIf-None-Match: *';
  expect(await sendRaw(service.url, `${head}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
});

describe('an If-Match, or an If-None-Match', () => {
  it.each(['/docs', '/docs/openapi.json', '/docs/openapi.yaml', '/docs/swagger-ui.css', '/console/'])(
    'is heeded for what anybody may read: %s',
    async (path) => {
      const tag = (await get(path)).headers.get('etag') ?? '';
      expect(tag).not.toBe('');
      const refused = await get(path, { 'if-match': '"other"' });
      expect([refused.status, refused.body.code, refused.headers.get('etag')]).toEqual([
        412,
        'precondition_failed',
        null,
      ]);
      expect((await get(path, { 'if-match': tag })).status).toBe(200);
    },
  );

  it('does nothing but refuse where what would change is not compared with it', async () => {
    const made = await service.request('POST', '/admin/clients', { json: { name: 'A', plan: 'free' } });
    const client = `/admin/clients/${made.body.id}`;
    const { text, headers } = await get(client);
    const orders = [
      ['DELETE', client],
      ['POST', `${client}/suspend`],
      ['POST', '/v1/pets', { name: 'Rex', categoryId: 1 }],
      ['POST', '/v1/reports/plain'],
      ['PUT', '/v1/reports/plain'],
    ] as const;
    const refusedWith = async (
      fields: Record<string, string>,
      [method, path, json]: (typeof orders)[number],
    ) => {
      const { status, body } = await service.request(method, path, { json, headers: fields });
      expect([status, body.code], `${method} ${path}`).toEqual([412, 'precondition_failed']);
      return body.message as string;
    };
    for (const ifMatch of ['"stale"', headers.get('etag') ?? '', `*, "stale"`, 'malformed', ''])
      for (const order of orders)
        expect(await refusedWith({ 'if-match': ifMatch }, order)).toContain('does not support If-Match');
    for (const ifNoneMatch of ['*', headers.get('etag') ?? '', '"other"'])
      for (const order of orders.filter(([name]) => name !== 'POST'))
        await refusedWith({ 'if-none-match': ifNoneMatch }, order);
    expect((await get(client)).text).toBe(text);
    expect(plain).toBe(0);
  });

  it('with * needs no tag: a missing resource returns 404, or 412 if a PUT could create it', async () => {
    const headers = { 'if-match': '*' };
    const nobody = `/admin/clients/${randomUUID()}`;
    expect((await service.request('DELETE', nobody, { headers })).status).toBe(404);
    const made = await service.request('POST', '/admin/clients', {
      json: { name: 'A', plan: 'free' },
      headers,
    });
    expect(made.status).toBe(201);
    expect((await service.request('PUT', '/v1/reports/plain', { headers })).status).toBe(412);
    expect(plain).toBe(0);
    expect((await service.request('DELETE', `/admin/clients/${made.body.id}`, { headers })).status).toBe(200);
  });

  it('is not compared where there is nothing to compare', async () => {
    const statusOf = async (method: string, path: string) =>
      (await service.request(method, path, { headers: { 'if-match': '"stale"' } })).status;
    expect(await statusOf('GET', '/v1/pets/99')).toBe(404);
    expect(await statusOf('OPTIONS', '/v1/pets')).toBe(204);
  });
});

describe('Accept', () => {
  it.each([
    ['application/json', 200],
    ['*/*', 200],
    ['text/html, application/json;q=0.5', 200],
    ['', 200],
    ['text/html', 406],
    ['application/json;q=0, */*', 406],
  ])('%j returns %i', async (accept, expected) => {
    const { status, body, headers } = await get('/v1/pets', { accept });
    expect(status).toBe(expected);
    if (expected === 406) {
      expect(body.code).toBe('not_acceptable');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  it('is refused before anything is done', async () => {
    const before = (await get('/v1/pets')).text;
    const json = { name: 'a', categoryId: 1 };
    expect(
      (await service.request('POST', '/v1/pets', { json, headers: { accept: 'text/html' } })).status,
    ).toBe(406);
    expect((await get('/v1/pets')).text).toBe(before);
    expect((await get('/v1/nothing', { accept: 'text/html' })).status).toBe(404);
  });
});

describe('compression', () => {
  it.each(['br', 'gzip'])('with %s is for the docs, which are large', async (coding) => {
    for (const path of ['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']) {
      const { headers } = await get(path, { 'accept-encoding': coding });
      expect([path, headers.get('content-encoding')]).toEqual([path, coding]);
      expect(headers.get('vary')).toContain('Accept-Encoding');
    }
    expect((await get('/v1/pets', { 'accept-encoding': coding })).headers.get('content-encoding')).toBeNull();
  });
});
