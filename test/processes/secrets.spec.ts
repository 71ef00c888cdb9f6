import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { API_KEY_PATTERN, holdsApiKey } from '../../src/auth/api-key.format.js';
import { freePort } from '../support/free-port.js';
import { petstoreHere } from '../support/petstore-here.js';
import { folderOfTest, petstore, serviceOfTest, ServiceProcess } from '../support/service-process.js';

it('no key appears in database files, logs, audit trail or metrics, whatever is done with it', async () => {
  const path = await folderOfTest();
  const environment = { LOG_LEVEL: 'trace' };
  const service = await serviceOfTest(path, environment);
  const firstKey = service.demoKey;
  const output: string[] = [];
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await petstoreHere(path, args, environment);
    output.push(stderr);
    return stdout;
  };
  const { id: client } = JSON.parse(
    await run('client', 'create', '--name', 'A', '--plan', 'pro', '--json'),
  ) as { id: string };
  const scopes = 'admin,pets:read,pets:write';
  const issued = JSON.parse(await run('key', 'issue', '--client', client, '--scopes', scopes, '--json')) as {
    key: string;
  };
  const keys = new Set([firstKey, issued.key]);

  const send = async (
    method: string,
    target: string,
    options: { key?: string; json?: unknown; headers?: Record<string, string> } = {},
  ) => {
    const { text, body } = await service.request(method, target, { key: issued.key, ...options });
    const made = (body as { key?: string }).key;
    if (made !== undefined) keys.add(made);
    else output.push(text);
    return body as { id: string; key: string };
  };
  const other = await send('POST', '/admin/keys', {
    json: { clientId: client, label: 'other', scopes: ['pets:read'] },
  });
  await send('POST', `/admin/keys/${other.id}/rotate`, { json: { grace: '0' } });
  const hooks: string[] = [];
  const order = async (target: string, json: object) => {
    const { body } = await service.request('POST', target, { key: issued.key, json });
    const { id, secret } = body as { id: string; secret: string };
    hooks.push(secret);
    return id;
  };
  const url = 'https://shop.example.com/webhooks';
  const hook = await order('/admin/webhooks', { clientId: client, url, events: ['pets.created'] });
  await order(`/admin/webhooks/${hook}/rotate-secret`, {});
  await send('GET', '/admin/webhooks');
  await send('GET', `/admin/webhooks/${hook}`);
  await send('POST', `/admin/webhooks/${hook}/test`);
  await send('GET', `/admin/webhooks/${hook}/deliveries`);
  // Used, mistyped, in the wrong header, the wrong place of the path, the query and the body.
  await send('GET', '/v1/pets');
  await send('GET', '/v1/pets', { key: other.key });
  await send('GET', '/v1/pets', { key: `${issued.key}x` });
  await send('GET', '/v1/pets', {
    headers: { 'x-request-id': issued.key, 'x-api-key': issued.key, cookie: issued.key },
  });
  await send('GET', `/v1/pets?api_key=${issued.key}&status=${issued.key}`);
  await send('GET', `/v1/pets/${issued.key}`);
  await send('GET', `/v1/${issued.key}`);
  await send('POST', '/v1/pets', { json: { [issued.key]: 1 } });
  await send('POST', '/admin/clients', { json: { name: issued.key, plan: 'free' } });
  await send('POST', '/admin/keys', { json: { clientId: client, label: `was ${issued.key}` } });
  await send('POST', '/admin/keys', { json: { clientId: client, scopes: [issued.key] } });
  await run('client', 'create', '--name', issued.key, '--plan', 'free');
  await run('key', 'show', other.key);
  await run('key', 'revoke', other.key, '--yes');
  await run('key', 'show', `pst_test_${'0'.repeat(30)}2Wj70T`);
  output.push(
    await run('audit', 'list', '--json'),
    await run('audit', 'list'),
    await run('key', 'list', '--json'),
  );
  output.push(JSON.stringify(await send('GET', '/admin/audit?limit=100')));
  const [, port = ''] = /Metrics on port (\d+)/.exec(service.output) ?? [];
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toContain('http_requests_total');

  const written = async () => {
    const files = await readdir(join(path, 'data'));
    expect(files).toContain('petstore.sqlite');
    return Promise.all(files.map((file) => readFile(join(path, 'data', file), 'latin1')));
  };
  const whileRunning = await written();
  const { stderr } = await service.stop();
  // The first start prints its key on purpose, once.
  const logs = service.output.replace(`Bearer ${firstKey}`, '');
  const places = { files: [...whileRunning, ...(await written())].join(), logs: logs + stderr, metrics };
  expect(keys.size).toBe(4);
  for (const key of keys) {
    for (const [place, text] of Object.entries(places)) {
      expect(text.includes(key.slice(13)), `${place} hold a key`).toBe(false);
    }
  }
  for (const [place, text] of Object.entries(places)) expect(holdsApiKey(text), place).toBe(false);
  // The database holds what signs webhooks; nothing else does, and no response but the one that made it.
  expect(hooks.every((secret) => secret.startsWith('whsec_'))).toBe(true);
  for (const secret of hooks) expect((places.logs + metrics + output.join()).includes(secret)).toBe(false);
  // A response may repeat to a caller what it sent; the audit trail and the lists may not.
  expect(output.slice(-4).some(holdsApiKey)).toBe(false);
  expect([...keys].every((key) => new RegExp(API_KEY_PATTERN).test(`key=${key};`))).toBe(true);
});

it('no password appears in messages of the service and its commands about an address, with or without line breaks in it', async () => {
  const path = await folderOfTest();
  const nobody = `127.0.0.1:${await freePort()}`;
  for (const password of ['SECRET', 'SECRET\n', 'a/b@SECRET']) {
    const DATABASE_URL = `postgres://shop:${password}@${nobody}/shop`;
    const environment = { DATABASE_URL, REDIS_URL: `redis://shop:${password}@${nobody}` };
    const copy = ['db', 'copy', '--from', 'sqlite:absent.sqlite', '--to', DATABASE_URL];
    const output = await Promise.all([
      ServiceProcess.start(path, environment).then(() => 'started', String),
      ServiceProcess.start(path, { REDIS_URL: `${environment.REDIS_URL}/x` }).then(() => 'started', String),
      ...[['client', 'list'], ['doctor'], copy].map(async (args) => {
        const { code, stdout, stderr } = await petstore(path, args, environment);
        return `${code}: ${stdout}${stderr}`;
      }),
    ]);
    for (const text of output) {
      expect(text).not.toMatch(/^started|^0:|SEC\s*RET|\n\s+at /);
      if (password !== 'SECRET') expect(text).toMatch(/_URL: the value is not allowed|--to: This must be/);
    }
  }
});
