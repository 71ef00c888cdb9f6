import { Logger } from '@nestjs/common';
import { type MockInstance, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../core/time/clock.js';
import { Metrics } from '../../core/metrics/metrics.js';
import { CLOSED, RedisState, RetryBackoff } from './redis-state.js';

let log: MockInstance<Logger['log']>;
let warn: MockInstance<Logger['warn']>;
beforeEach(() => {
  log = vi.spyOn(Logger.prototype, 'log').mockReturnValue();
  warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
});

function open() {
  const metrics = new Metrics();
  const state = new RedisState(metrics);
  const text = async () => (await metrics.exposition()).text;
  const figures = async () => {
    const exposed = await text();
    const of = (name: string) =>
      exposed
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1];
    return [
      of('petstore_quota_redis_up'),
      of('petstore_quota_redis_changes_total{to="redis"}'),
      of('petstore_quota_redis_changes_total{to="alone"}'),
    ];
  };
  return { state, figures, text };
}
const lines = () => [log, warn].map(({ mock }) => mock.calls.map(([line]) => line as unknown));

it('is alone until Redis is there; nothing is logged before the start is told', async () => {
  const { state, figures, text } = open();
  expect([state.isUp, await figures()]).toEqual([false, ['0', undefined, undefined]]);
  state.setUp();
  expect([state.isUp, await figures()]).toEqual([true, ['1', '1', undefined]]);
  expect(lines()).toEqual([[], []]);
  state.tell();
  state.tell();
  expect(lines()).toEqual([['Quotas are counted in Redis'], []]);
  expect(await text()).toContain(
    '# HELP petstore_quota_redis_up Whether quotas are counted in Redis (1) or by this instance alone (0).',
  );
  expect(await text()).toContain(
    '# HELP petstore_quota_redis_changes_total Changes between counting in Redis and alone.',
  );
});

it.each([
  ['nothing is known', undefined, 'not asked yet'],
  ['it refused', new Error('LOADING Redis is loading the dataset.'), 'LOADING Redis is loading the dataset.'],
  [
    'it refused for a reason that has a remedy',
    new Error('NOAUTH Authentication required.'),
    'NOAUTH Authentication required. Look at user and password in REDIS_URL; special characters are written percent-encoded',
  ],
])('tells once at the start why Redis cannot be used, when %s', (_, reason, told) => {
  const { state } = open();
  if (reason) state.noteReason(reason);
  state.tell();
  state.tell();
  expect(lines()).toEqual([
    [],
    [`Redis cannot be used (${told}); quotas are counted by this instance alone until it can`],
  ]);
});

it('tells each change in one line, and counts it', async () => {
  const { state, figures } = open();
  state.setUp();
  state.tell();
  state.setDown(new Error('no answer within 50 ms'), 3);
  expect([state.isUp, await figures()]).toEqual([false, ['0', '1', '1']]);
  state.setUp();
  expect(await figures()).toEqual(['1', '2', '1']);
  expect(lines()).toEqual([
    ['Quotas are counted in Redis', 'Quotas are counted in Redis'],
    [
      'Redis failed (no answer within 50 ms); this instance counts alone, at 1/3 of what is left of each limit',
    ],
  ]);
});

it.each([
  [
    'a closed connection',
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    CLOSED,
  ],
  ['what it was told, though that is no error', 'gone', 'gone'],
  [
    'a script that failed, without where in it',
    new Error(`OOM command not allowed. script: ${'0a'.repeat(20)}, on @user_script:1.`),
    'OOM command not allowed',
  ],
  [
    'a script that failed, without a full stop',
    new Error(`READONLY You can't write script: ${'0a'.repeat(20)}, on @user_script:1.`),
    "READONLY You can't write",
  ],
  ['anything else that speaks of a script', new Error('no script: abc'), 'no script: abc'],
])('names %s in words of Redis', (_, error, expected) => {
  const { state } = open();
  state.noteReason(error);
  state.tell();
  expect(lines()[1]).toEqual([expect.stringContaining(`(${expected});`)]);
});

it('says of a closed connection that it was closed', () => {
  expect(CLOSED).toBe('the connection was closed');
});

describe('pauses between attempts', () => {
  function pausesAt(chance: number) {
    const time = { now: 1_000_000 };
    vi.spyOn(performance, 'now').mockImplementation(() => time.now);
    vi.spyOn(Math, 'random').mockReturnValue(chance);
    return { time, pauses: new RetryBackoff(new SystemClock()) };
  }

  it('doubles from 100 ms to five seconds', () => {
    const { pauses } = pausesAt(0);
    const told = Array.from({ length: 8 }, () => pauses.next());
    expect(told).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  });

  it('leaves up to a half to chance', () => {
    const { pauses } = pausesAt(1);
    expect([pauses.next(), pauses.next()]).toEqual([50, 100]);
  });

  it('goes on where it was when Redis fails within ten seconds, and begins anew after them', () => {
    const { pauses, time } = pausesAt(0);
    pauses.next();
    pauses.up();
    time.now += 9_999;
    expect(pauses.next()).toBe(200);
    // Not up since: a long outage is no success.
    time.now += 60_000;
    expect(pauses.next()).toBe(400);
    pauses.up();
    time.now += 10_000;
    expect(pauses.next()).toBe(100);
  });
});
