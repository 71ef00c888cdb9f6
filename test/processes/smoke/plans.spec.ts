import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderOfTest, petstore, serviceOfTest, ServiceProcess } from '../../support/service-process.js';

async function folderWith(plans: string): Promise<string> {
  const path = await folderOfTest();
  await writeFile(join(path, '.env'), `PLANS=${plans}\nNODE_ENV=production\n`);
  return path;
}

/** Makes a client of a plan and its key, by the command line. */
async function keyOf(path: string, plan: string, ...more: readonly string[]): Promise<string> {
  const order = ['--name', plan, '--plan', plan, '--issue-key', '--json'];
  const made = await petstore(path, ['client', 'create', ...order, ...more]);
  expect(made.stderr + made.stdout).toContain('"plan"');
  return (JSON.parse(made.stdout) as { key: { key: string } }).key.key;
}

it('PLANS changes the numbers of a plan and adds plans, on the command line, over HTTP and in the documents', async () => {
  const path = await folderWith('free=2/50, team=3/9');
  // What every service has, with modules or without.
  const scopes = ['--scopes', 'admin'];
  const keys = { free: await keyOf(path, 'free', ...scopes), team: await keyOf(path, 'team', ...scopes) };
  const admin = await keyOf(path, 'pro', '--scopes', 'admin');
  const service = await serviceOfTest(path);
  for (const [plan, allowed] of Object.entries({ free: 2, team: 3 } as const)) {
    const statuses: number[] = [];
    for (let sent = 0; sent <= allowed; sent += 1) {
      const response = await service.request('GET', '/admin/plans', { key: keys[plan as 'free' | 'team'] });
      expect(response.headers.get('x-ratelimit-limit')).toBe(String(allowed));
      statuses.push(response.status);
    }
    expect(statuses).toEqual([...Array<number>(allowed).fill(200), 429]);
  }
  const create = (plan: string) =>
    service.request('POST', '/admin/clients', { key: admin, json: { name: 'Other', plan } });
  expect((await create('team')).body).toMatchObject({ plan: 'team', perMinute: 3, perDay: 9 });
  expect((await create('gold')).body).toMatchObject({
    code: 'validation_failed',
    details: [{ field: 'plan', message: 'This must be one of free, pro, business, team, enterprise.' }],
  });
  expect((await service.request('GET', '/admin/plans', { key: admin })).body).toEqual([
    { plan: 'free', perMinute: 2, perDay: 50 },
    { plan: 'pro', perMinute: 300, perDay: 10_000 },
    { plan: 'business', perMinute: 1_000, perDay: 100_000 },
    { plan: 'team', perMinute: 3, perDay: 9 },
  ]);
  expect((await service.request('GET', '/docs/openapi.json')).text).toContain('| Team | 3 | 9 |');
  const help = await petstore(path, ['client', 'create', '--help']);
  expect(help.stdout).toContain('"business", "team", "enterprise"');
  const refused = await petstore(path, ['client', 'create', '--name', 'x', '--plan', 'gold']);
  const allowed = 'This must be one of free, pro, business, team, enterprise.';
  expect([refused.code, refused.stderr]).toEqual([2, `--plan: ${allowed}\n`]);
});

it('a plan that is removed leaves its clients the limits of free, with a warning', async () => {
  const path = await folderWith('team=3/9');
  const key = await keyOf(path, 'team', '--scopes', 'admin');
  await writeFile(join(path, '.env'), (await readFile(join(path, '.env'), 'utf8')).replace(/PLANS=.*/, ''));
  const service = await serviceOfTest(path);
  const response = await service.request('GET', '/admin/plans', { key });
  expect([response.status, response.headers.get('x-ratelimit-limit')]).toEqual([200, '60']);
  expect(service.output).toContain('Clients have the plan team, which PLANS does not contain');
});

it('a table that is no table stops the start with what is allowed, as do other wrong settings, whose secrets are not shown', async () => {
  const DATABASE_URL = 'mysql://user:hunter2@db/x';
  const failure = await ServiceProcess.start(await folderWith('team=3'), { DATABASE_URL }).then(
    () => 'started',
    String,
  );
  expect(failure).toContain('ended with 1');
  expect(failure).toMatch(
    /^Invalid setting: PLANS: "team=3" is not allowed; it must be different plans such as/m,
  );
  expect(failure).toMatch(/^Invalid setting: DATABASE_URL: the value is not allowed; it must be .+\.$/m);
  expect(failure).not.toContain('hunter2');
});
