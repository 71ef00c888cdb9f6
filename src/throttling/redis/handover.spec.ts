import { expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, type QuotaRequest, type QuotaVerdict } from '../quota.js';
import { Handover } from './handover.js';
import { KnownCounts } from './known-counts.js';
import type { RedisHandover } from './redis-handover.js';

const NOON = Date.UTC(2026, 10, 20, 12);

const requestOf = (subject: string): QuotaRequest => ({
  subject,
  isClient: true,
  keyId: `key of ${subject}`,
  windows: [
    { key: subject, name: 'minute', limit: 100, lengthMs: MINUTE_MS },
    { key: subject, name: 'day', limit: 1_000, lengthMs: DAY_MS },
  ],
});

type Told = Parameters<RedisHandover['send']>;

/** A Redis that notes what it is told, and adds it to what is there. */
function open() {
  const known = new KnownCounts();
  const told: { id: string; counts: { seen: number; alone: number }[]; bans: unknown[] }[] = [];
  const redis = { failure: undefined as Error | undefined, others: 0 };
  const shared = {
    send: (id: Told[0], counts: Told[1], bans: Told[2]) => {
      told.push({ id, counts: counts.map(({ seen, alone }) => ({ seen, alone })), bans: [...bans] });
      return redis.failure
        ? Promise.reject(redis.failure)
        : Promise.resolve(counts.map(({ seen, alone }) => seen + alone + redis.others));
    },
  } as unknown as RedisHandover;
  const admit = (subject: string, times: number) => {
    const counts = known.of(requestOf(subject), NOON);
    for (let admitted = 0; admitted < times; admitted += 1) known.admittedAlone(counts);
    return counts;
  };
  return { known, told, redis, admit, handover: new Handover(known, shared) };
}

it('tells what was admitted alone, once, and learns what it comes to', async () => {
  const { told, redis, admit, handover } = open();
  const [minute] = admit('a', 3);
  redis.others = 10;
  await handover.run(false);
  expect(told).toMatchObject([
    {
      counts: [
        { seen: 0, alone: 3 },
        { seen: 0, alone: 3 },
      ],
      bans: [],
    },
  ]);
  expect(minute).toMatchObject({ alone: 3, handedOver: 3, seen: 13 });
  admit('a', 2);
  await handover.run(false);
  expect(told[1]?.counts).toEqual([
    { seen: 13, alone: 2 },
    { seen: 13, alone: 2 },
  ]);
  await handover.run(false);
  expect(told).toHaveLength(2);
});

it('tells a batch without an answer again under its id, though more was admitted since', async () => {
  const { told, redis, admit, handover } = open();
  admit('a', 3);
  redis.failure = new Error('no answer');
  await expect(handover.run(false)).rejects.toThrow('no answer');
  admit('a', 1);
  await expect(handover.run(false)).rejects.toThrow('no answer');
  redis.failure = undefined;
  await handover.run(false);
  const [first, second, third, rest] = told;
  expect(new Set([first?.id, second?.id, third?.id]).size).toBe(1);
  expect([first, second, third].map((batch) => batch?.counts[0])).toEqual([
    { seen: 0, alone: 3 },
    { seen: 0, alone: 3 },
    { seen: 0, alone: 3 },
  ]);
  expect(rest?.counts[0]).toEqual({ seen: 3, alone: 1 });
  expect(rest?.id).not.toBe(first?.id);
});

it('never takes a smaller answer for what is there', async () => {
  const { known, redis, admit, handover } = open();
  const counts = admit('a', 1);
  known.learn(counts, { windows: [{ used: 40 }, { used: 40 }] } as unknown as QuotaVerdict);
  redis.others = -20;
  await handover.run(false);
  expect(counts).toMatchObject([{ seen: 40 }, { seen: 40 }]);
});

it('tells at most 500 counts or bans at a time, and everything where all may be lost', async () => {
  const { known, told, handover } = open();
  const until = NOON + MINUTE_MS;
  for (let client = 0; client < 600; client += 1) {
    const request = requestOf(`client:${client}`);
    const counts = known.of(request, NOON);
    known.learn(counts, { windows: [{ used: 5 }, { used: 7 }] } as unknown as QuotaVerdict);
    known.learnBan(request, { windows: [], bannedUntil: until } as unknown as QuotaVerdict);
  }
  await handover.run(false);
  expect(told).toEqual([]);
  await handover.run(true);
  expect(told.map(({ counts, bans }) => [counts.length, bans.length])).toEqual([
    [0, 500],
    [0, 100],
    [500, 0],
    [500, 0],
    [200, 0],
  ]);
  expect(told[0]?.bans[0]).toEqual({ keyId: 'key of client:0', subject: 'client:0', until });
  expect(new Set(told.map(({ id }) => id)).size).toBe(5);
});
