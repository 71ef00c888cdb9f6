import { beforeEach, describe, expect, it } from 'vitest';
import { type ServiceParts, openParts } from '../../../test/support/service-parts.js';
import { DAY_MS, MINUTE_MS } from '../../throttling/quota.js';
import { windowsOf } from '../../throttling/quota.js';
import { SERVICE_ITSELF } from './audited-changes.js';
import type { Client } from './client.entity.js';
import { defineScopes } from './scopes.js';
import { DAYS_KEPT, DAYS_SHOWN } from './usage.service.js';

defineScopes('shelves', { read: 'Read shelves.' });

let parts: ServiceParts;
let shop: Client;
let other: Client;

beforeEach(async () => {
  parts = await openParts();
  shop = await parts.clients.create({ name: 'Shop', plan: 'pro' }, SERVICE_ITSELF);
  parts.clock.advance(1);
  other = await parts.clients.create({ name: 'Other', plan: 'free' }, SERVICE_ITSELF);
});

async function send(client: Client, times: number, keyId?: string, limits = {}): Promise<void> {
  const subject = { ...parts.quotas.subjectOf(client), ...limits };
  const windows = windowsOf(subject);
  for (let sent = 0; sent < times; sent += 1)
    await parts.store.take({ subject: subject.id, isClient: true, windows, keyId }, parts.clock.now());
}
const issue = async (client: Client) =>
  (await parts.issuing.issue({ clientId: client.id }, SERVICE_ITSELF)).apiKey;
const requests = ({ days }: { days: readonly { requests: number }[] }) => days.map((day) => day.requests);
async function ban(client: Client, keyId: string): Promise<void> {
  await send(client, 2, keyId, { perMinute: 1 });
  for (let second = 0; second < 22; second += 1) {
    parts.clock.advance(1_000);
    await send(client, 1, keyId, { perMinute: 1 });
  }
}

it('a client counts under its own id, by its plan', () => {
  expect(parts.quotas.subjectOf(shop)).toEqual({
    id: `client:${shop.id}`,
    plan: 'pro',
    perMinute: 300,
    perDay: 10_000,
  });
});

describe('the usage of a client', () => {
  it('is both windows as they stand, and seven days, today first', async () => {
    await send(shop, 7);
    expect(await parts.usage.of(shop)).toEqual({
      limits: { perMinute: 300, perDay: 10_000 },
      windows: [
        expect.objectContaining({ name: 'minute', limit: 300, used: 7, remaining: 293 }),
        expect.objectContaining({ name: 'day', limit: 10_000, used: 7, remaining: 9_993 }),
      ],
      bans: [],
      lastUsedAt: null,
      deprecatedCalls: [],
      days: ['20', '19', '18', '17', '16', '15', '14'].map((day) => ({
        date: `2026-11-${day}`,
        requests: day === '20' ? 7 : 0,
      })),
    });
    expect([DAYS_SHOWN, DAYS_KEPT]).toEqual([7, 90]);
  });

  it('has of past days what was written, and of today the larger of that and what is known here', async () => {
    await send(shop, 5);
    await send(other, 9);
    await parts.writeBehind.flush();
    parts.clock.advance(DAY_MS);
    await send(shop, 3);
    expect(requests(await parts.usage.of(shop, 3))).toEqual([3, 5, 0]);
    await parts.writeBehind.flush();
    expect(requests(await parts.usage.of(shop, 3))).toEqual([3, 5, 0]);
    // Another process counted more than this one knows.
    await parts.dataSource.query('UPDATE quota_counts SET used = used + 100');
    expect(requests(await parts.usage.of(shop, 3))).toEqual([103, 105, 0]);
    expect(requests(await parts.usage.of(shop, 1))).toEqual([103]);
    parts.clock.advance(DAY_MS);
    expect(requests(await parts.usage.of(shop, 3))).toEqual([0, 103, 105]);
    expect(requests(await parts.usage.of(shop, 2))).toEqual([0, 103]);
  });

  it('has of today what was counted in all its minutes, though nothing is written yet', async () => {
    await send(shop, 5);
    parts.clock.advance(MINUTE_MS);
    await send(shop, 1);
    expect(requests(await parts.usage.of(shop, 1))).toEqual([6]);
  });

  it('tells the last use of any of its keys', async () => {
    const [first, second, third] = [await issue(shop), await issue(shop), await issue(shop)];
    const foreign = await issue(other);
    parts.uses.note(first.id);
    await parts.uses.flush();
    expect((await parts.usage.of(shop)).lastUsedAt).toBe('2026-11-20T12:00:10.251Z');
    parts.clock.advance(MINUTE_MS);
    parts.uses.note(second.id);
    parts.clock.advance(MINUTE_MS);
    parts.uses.note(foreign.id);
    await parts.uses.flush();
    expect((await parts.usage.of(shop)).lastUsedAt).toBe('2026-11-20T12:01:10.251Z');
    expect((await parts.keys.get(third.id)).lastUsedAt).toBeNull();
    expect((await parts.usage.of(other)).lastUsedAt).toBe('2026-11-20T12:02:10.251Z');
  });

  it('tells which of its keys are banned, and until when', async () => {
    const [banned, free] = [await issue(shop), await issue(shop)];
    const foreign = await issue(other);
    await ban(shop, banned.id);
    await ban(other, foreign.id);
    const { bans } = await parts.usage.of(shop);
    expect(bans).toEqual([
      { keyId: banned.id, bannedUntil: expect.stringMatching(/^2026-11-20T12:05:3\d\.251Z$/) },
    ]);
    expect(await parts.usage.bannedUntil(banned)).toBe(bans[0]?.bannedUntil);
    expect(await parts.usage.bannedUntil(free)).toBeNull();
  });

  it('tells its calls of what is deprecated, and those of nobody else', async () => {
    parts.deprecated.note(shop.id, 'GET /v1/old');
    parts.deprecated.note(other.id, 'GET /v1/older');
    await parts.deprecated.flush();
    const told = { operation: 'GET /v1/old', calls: 1, lastDay: '2026-11-20' };
    expect((await parts.usage.of(shop)).deprecatedCalls).toEqual([told]);
    parts.clock.advance(DAY_MS);
    expect((await parts.usage.of(shop, 2)).deprecatedCalls).toEqual([told]);
    expect((await parts.usage.of(shop, 1)).deprecatedCalls).toEqual([]);
  });
});

it('the usage of all clients comes page by page, oldest first', async () => {
  await send(shop, 1);
  await send(other, 2);
  const first = await parts.usage.list({ limit: 1 });
  expect(
    first.items.map(({ client, usage }) => [client.id, usage.windows[0]?.used, usage.days.length]),
  ).toEqual([[shop.id, 1, 7]]);
  const second = await parts.usage.list({ limit: 1, ...(first.next ? { after: first.next } : {}) }, 2);
  expect(second).toMatchObject({
    items: [{ client: { id: other.id }, usage: { windows: [{ used: 2 }, {}] } }],
  });
  expect(second.items[0]?.usage.days).toHaveLength(2);
  expect(second.next).toBeUndefined();
  const both = await parts.usage.list({ limit: 5 });
  expect(both.items.map(({ client, usage }) => [client.name, ...requests(usage).slice(0, 1)])).toEqual([
    ['Shop', 1],
    ['Other', 2],
  ]);
});

it('the usage of one client is told of no other on its page', async () => {
  const key = await issue(other);
  await ban(other, key.id);
  parts.uses.note(key.id);
  parts.deprecated.note(other.id, 'GET /v1/old');
  await parts.uses.flush();
  await parts.deprecated.flush();
  const told = (await parts.usage.list({ limit: 5 })).items.map(({ usage }) => [
    usage.bans.length,
    usage.lastUsedAt === null,
    usage.deprecatedCalls.length,
  ]);
  expect(told).toEqual([
    [0, true, 0],
    [1, false, 1],
  ]);
});
