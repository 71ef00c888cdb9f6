import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { makeDatabase } from '../../kit/test-database.js';
import { TestService } from '../../kit/test-service.js';

it('the file has no name, label, URL or secret of an erased client left', async () => {
  const { url, remove } = await makeDatabase('file');
  try {
    const service = await TestService.open({ environment: { DATABASE_URL: url }, scopes: ['admin'] });
    const { clientId, key } = await service.issueKey({ plan: 'business', scopes: ['account'] });
    const call = (method: string, path: string, json?: object) =>
      service.request(method, path, json ? { json } : {});
    await call('PATCH', `/admin/clients/${clientId}`, { name: 'Erika Mustermann' });
    const keys = await call('GET', `/admin/keys?client=${clientId}`);
    await call('PATCH', `/admin/keys/${keys.body[0].id}`, { label: 'Erikas Kasse' });
    const json = {
      url: 'https://erika.example.com/hooks',
      events: ['api_key.banned'],
      label: 'Erikas Laden',
    };
    const made = await service.request('POST', '/account/webhooks', { key, json });
    const texts = ['Erika Mustermann', 'Erikas Kasse', 'Erikas Laden', 'erika.example.com', made.body.secret];
    await call('DELETE', `/admin/clients/${clientId}`);
    expect((await call('POST', `/admin/clients/${clientId}/erase`)).status).toBe(200);
    await service.close();
    const file = (await readFile(url.replace('sqlite:', ''))).toString('latin1');
    expect(file).toContain('[erased]');
    for (const text of texts) expect(file.includes(String(text)), String(text)).toBe(false);
  } finally {
    await remove();
  }
});
