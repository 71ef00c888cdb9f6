import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/core/time/duration.js';
import { describeWith } from '../support/requirements.js';
import { ROOT, type ServiceProcess } from '../support/service-process.js';
import {
  type StoreKind,
  UpdateDrill,
  factsOf,
  fixtureFile,
  settingsOf,
  writeSqlite,
} from '../support/update-drill/drill.js';
import { type Change, lostMembers, lostRows } from '../support/update-drill/losses.js';

/** Tables of the fixture that hold no rows at rest. */
const EMPTY: Readonly<Record<StoreKind, readonly string[]>> = {
  // An instance on SQLite gives no notices: its files show each commit.
  sqlite: ['instance_notices'],
  postgres: [],
};

/** What the service changes by the requests below while the clock is stopped. */
const CHANGES: Readonly<Record<string, Change>> = {
  // Counts continue.
  quota_counts: { columns: ['used'] },
  quota_minutes: { columns: ['used'] },
  // Those of a minute are deleted after some hours.
  request_counts: { columns: ['requests'], isOver: ({ length_ms }) => length_ms === '60000' },
  // To the minute.
  api_keys: { columns: ['last_used_at'] },
  // Heartbeats of the processes.
  leases: { columns: ['holder', 'beat'] },
  // The instance is dead by now.
  instance_notices: { isOver: () => true },
  // The message has deliveries.
  webhook_fan_outs: { isOver: () => true },
};

const DEPLOYMENT = { sqlite: 'deploy/systemd.env', postgres: 'deploy/compose.env' } as const;

/** Commands, and what they print of the fixture. */
const COMMANDS: readonly (readonly [readonly string[], RegExp])[] = [
  [['db', 'status'], /^(?!.*pending).*applied/s],
  [['audit', 'list'], /api_key\.rotated/],
  [['outbox', 'list'], /recorder/],
  [['doctor'], /database +ok/],
];

/** The update of one store of the fixture: the tests depend on each other, in their order. */
function updates(kind: StoreKind, more: (opened: () => UpdateDrill) => void): void {
  const facts = factsOf(kind);
  let drill: UpdateDrill;
  let service: ServiceProcess;
  let before: Awaited<ReturnType<UpdateDrill['rows']>>;
  beforeAll(async () => void (drill = await UpdateDrill.open(kind)));
  afterAll(() => drill.close());

  const keyOf = (name: string) => facts.keys[name]?.key ?? '';
  const get = (name: string, path = '/v1/pets/1', headers = {}) =>
    service.request('GET', path, { key: keyOf(name), headers });
  const remainingOf = async (name: string) => {
    const { status, headers, body } = await get(name);
    return [status, headers.get('x-ratelimit-remaining'), (body as { code?: string }).code];
  };

  it('starts with rows in every table', async () => {
    before = await drill.rows();
    const empty = Object.entries(before).filter(([, rows]) => rows.length === 0);
    expect(empty.map(([table]) => table)).toEqual(EMPTY[kind]);
  });

  it('migrates without the loss of a row', async () => {
    expect(await drill.petstore('db', 'migrate')).toMatchObject({ code: 0 });
    expect(lostRows(before, await drill.rows())).toEqual([]);
  });

  it('starts with the files that a killed process left, with the settings of its deployment', async () => {
    service = await drill.start(settingsOf(DEPLOYMENT[kind]));
    expect((await service.request('GET', '/health/ready', { key: null })).status).toBe(200);
    expect(service.warnings).toEqual([]);
  });

  it.each([
    { name: 'Few a day', code: 'daily_quota_exceeded' },
    { name: 'Few a minute', code: 'rate_limit_exceeded' },
  ])('counts on for $name, and refuses the next request after the last', async ({ name, code }) => {
    for (let left = (facts.remaining[name] ?? 0) - 1; left >= 0; left -= 1)
      expect(await remainingOf(name)).toEqual([200, String(left), undefined]);
    expect(await remainingOf(name)).toEqual([429, '0', code]);
  });

  it('counts on for a client of the plan free', async () => {
    expect(await remainingOf('Shop')).toEqual([200, String((facts.remaining.Shop ?? 0) - 1), undefined]);
  });

  it.each(facts.asked)('responds as before: $what', async ({ name, path, status, text }) => {
    // Newer errors are above.
    const whole = path.endsWith('/requests') ? `${path}?limit=100` : path;
    const now = await get(name, whole);
    expect(now.status, now.text).toBe(status);
    if (status >= 400) expect(now.body.code).toBe((JSON.parse(text) as { code: string }).code);
    else if (path.startsWith('/v1/')) expect(now.text).toBe(text);
    else if (path.endsWith('/export'))
      // Newer columns follow.
      for (const line of text.split('\r\n'))
        expect(
          now.text.split('\r\n').some((one) => one.startsWith(line)),
          line,
        ).toBe(true);
    else
      expect(
        lostMembers(
          JSON.parse(text.replaceAll(/http:\/\/127\.0\.0\.1:[12](?=\/)/g, drill.receiver.url)),
          now.body,
        ),
      ).toEqual([]);
  });

  it('names the end of a ban as before', async () => {
    const { text } = facts.asked.find(({ what }) => what === 'a banned key') ?? { text: '' };
    const [until] = /\d{4}-[\d:.TZ-]+Z/.exec(text) ?? [];
    const wait = Math.ceil((Date.parse(until ?? '') - Date.parse(facts.at)) / 1_000);
    expect(Number((await get('Banned')).headers.get('retry-after'))).toBe(wait);
  });

  it.each(facts.asked.filter(({ headers, path }) => headers.etag && path.startsWith('/v1/')).slice(0, 5))(
    'responds to a conditional request with the tag that f1645ebd sent: $what',
    async ({ name, path, headers: { etag = '' }, text }) => {
      const now = await get(name, path, { 'if-none-match': etag });
      expect([
        [200, text],
        [304, ''],
      ]).toContainEqual([now.status, now.text]);
    },
  );

  it('responds to a retry of a POST with the stored response', async () => {
    const { key, json, body, location } = facts.idempotent;
    const post = (idempotencyKey: string, pet: object) =>
      service.request('POST', '/v1/pets', {
        key: keyOf('Shop'),
        json: pet,
        headers: { 'idempotency-key': idempotencyKey },
      });
    const again = await post(key, json);
    expect([again.status, again.text, again.headers.get('location')]).toEqual([201, body, location]);
    expect((await post(key, { ...json, name: 'Other' })).status).toBe(422);
    const made = await post('"another"', json);
    // Ids continue behind the last.
    const idOf = (text: string) => BigInt(/\d+/.exec(text)?.[0] ?? 0);
    expect([made.status, idOf(made.text) > idOf(body)]).toEqual([201, true]);
  });

  it('runs commands alongside the service', async () => {
    const runs = await Promise.all(
      COMMANDS.map(async ([line, shown]) => {
        const { code, stdout, stderr } = await drill.petstore(...line);
        expect([line, code, stderr], stdout).toEqual([line, 0, '']);
        expect(stdout).toMatch(shown);
      }),
    );
    expect(runs).toHaveLength(COMMANDS.length);
  });

  it('fans out the message that waited for it', async () => {
    await expect.poll(async () => (await drill.rows()).webhook_fan_outs).toEqual([]);
    // Their endpoints failed, and are not due yet.
    expect(drill.receiver.received).toEqual([]);
  });

  it('stops in time, with every row as it was but for what the requests changed', async () => {
    expect(await service.stop()).toMatchObject({ code: 0 });
    const after = await drill.rows();
    expect(lostRows(before, after, CHANGES)).toEqual([]);
    before = after;
  });

  it('delivers each message that waited once, in order, when it is due', async () => {
    const deliveries = before.webhook_deliveries?.toSorted((a, b) => Number(a.id) - Number(b.id)) ?? [];
    const waiting = deliveries.filter(({ state }) => state === 'waiting');
    expect(waiting.length).toBeGreaterThan(4);
    service = await drill.start(settingsOf(DEPLOYMENT[kind]), { laterMs: HOUR_MS });
    const states = async () => (await drill.rows()).webhook_deliveries?.map(({ state }) => state);
    await expect.poll(states).not.toContain('waiting');
    expect(await service.stop()).toMatchObject({ code: 0 });
    for (const label of ['up', 'down'] as const) {
      const sent = drill.receiver.received.filter(({ path }) => path === `/${label}`).map(({ id }) => id);
      const due = waiting.filter(({ endpoint_id }) => endpoint_id === facts.endpoints[label]);
      expect(sent).toEqual(due.map(({ message_id }) => message_id));
    }
  });

  it('keeps a parked event parked, and delivers the one behind it once its listener succeeds', async () => {
    const parked = (await drill.rows()).outbox_events?.filter(({ due_at }) => due_at === null);
    expect(parked).toHaveLength(1);
    const script = join(ROOT, 'test/support/durable-service.mjs');
    service = await drill.start({ NODE_ENV: 'production' }, { laterMs: HOUR_MS, script });
    await expect.poll(async () => (await drill.rows()).outbox_events).toEqual(parked);
    await service.stop('SIGKILL');
    expect(readFileSync(join(drill.folder, 'heard.txt'), 'utf8')).toBe('bigint 7 second\n');
  });

  more(() => drill);
}

/** What only SQLite has. */
function onSqlite(opened: () => UpdateDrill): void {
  it('restores a backup that f1645ebd made, and serves it', async () => {
    const drill = opened();
    await writeSqlite(join(drill.folder, 'backup.sqlite'));
    expect(await drill.petstore('db', 'restore', 'backup.sqlite', '--yes')).toMatchObject({ code: 0 });
    const restored = await drill.rows();
    expect(restored.webhook_fan_outs).toHaveLength(1);
    const service = await drill.start(settingsOf(DEPLOYMENT.sqlite));
    const { status, text } = await service.request('GET', '/v1/pets/9007199254740993', {
      key: drill.facts.keys.reads?.key ?? '',
    });
    expect([status, text]).toEqual([200, expect.stringContaining('{"id":9007199254740993,')]);
    expect(await service.stop()).toMatchObject({ code: 0 });
    expect(lostRows(restored, await drill.rows(), CHANGES)).toEqual([]);
  });
}

/** What only PostgreSQL and Redis have. */
function onPostgres(opened: () => UpdateDrill): void {
  const few = (drill: UpdateDrill) => ({ key: drill.facts.keys['Few a minute']?.key ?? '' });

  it('starts with the settings of Kubernetes', async () => {
    const drill = opened();
    const service = await drill.start(settingsOf('deploy/kubernetes.env'), { laterMs: HOUR_MS });
    const request = (path: string, name: string) =>
      service.request('GET', path, { key: drill.facts.keys[name]?.key ?? '' });
    expect((await request('/v1/pets/1', 'Shop')).status).toBe(200);
    expect((await request('/admin/clients', 'Operators')).status).toBe(404);
    expect(await service.stop()).toMatchObject({ code: 0 });
  });

  it('counts on in the database where there is no Redis', async () => {
    const drill = opened();
    const subject = `client:${drill.facts.clients['Few a minute']}`;
    const counts = (await drill.rows()).quota_counts?.filter(({ key }) => key === subject);
    expect(counts).toHaveLength(1);
    const service = await drill.start(settingsOf(DEPLOYMENT.postgres), {
      laterMs: HOUR_MS,
      environment: { REDIS_URL: '' },
    });
    const { headers } = await service.request('GET', '/v1/pets/1', few(drill));
    const day = /"day";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1];
    expect(Number(day)).toBe(1_000 - Number(counts?.[0]?.used) - 1);
    expect(await service.stop()).toMatchObject({ code: 0 });
  });

  it('starts with every setting of f1645ebd in .env, each of which is in effect or has one warning', async () => {
    const drill = opened();
    const settings = settingsOf('settings.env');
    await writeFile(join(drill.folder, '.env'), fixtureFile('settings.env'));
    const service = await drill.start({}, { laterMs: HOUR_MS });
    const origin = { origin: 'https://shop.example' };
    const { status, headers } = await service.request('GET', '/v1/pets/1', {
      ...few(drill),
      headers: origin,
    });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin.origin]);
    expect((await service.request('GET', '/console', { key: null })).status).toBe(404);
    expect(await service.stop()).toMatchObject({ code: 0 });
    const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
    const warnings = service.lines.filter(({ level }) => level >= 40).map(({ msg }) => msg);
    const warned = Object.keys(settings).map((name) => [
      name,
      warnings.filter((msg) => msg.includes(name)).length,
    ]);
    const ended = Object.keys(settings).map((name) => [name, example.includes(`\n# ${name}=`) ? 0 : 1]);
    expect(warned, warnings.join('\n')).toEqual(ended);
  });
}

describeWith('faketime', 'an update from f1645ebd', () => {
  describe('on SQLite', () => {
    updates('sqlite', onSqlite);
  });
  describeWith('redis-server', 'with Redis', () => {
    describeWith('postgres', 'on PostgreSQL', () => {
      updates('postgres', onPostgres);
    });
  });
});
