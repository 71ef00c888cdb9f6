import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type ServiceParts, openParts } from '../../../test/support/service-parts.js';
import { MINUTE_MS } from '../../throttling/quota.js';
import { SERVICE_ITSELF } from './audited-changes.js';
import { defineScopes } from './scopes.js';

defineScopes('shelves', { read: 'Read shelves.' });

let parts: ServiceParts;
let uses: ServiceParts['uses'];
let clientId: string;

beforeEach(async () => {
  parts = await openParts();
  ({ uses } = parts);
  parts.clock.set('2026-11-20T13:00:00.000Z');
  clientId = (await parts.clients.create({ name: 'Shop', plan: 'free' }, SERVICE_ITSELF)).id;
});

const issue = async () => (await parts.issuing.issue({ clientId }, SERVICE_ITSELF)).apiKey.id;
const shown = async (id: string) => (await parts.keys.get(id)).lastUsedAt;
const written = async (id: string) => {
  await uses.flush();
  return shown(id);
};
const at = (time: string) => `2026-11-20T${time}Z`;

describe('the last use of a key', () => {
  it('is written when it is first used', async () => {
    const [id, other] = [await issue(), await issue()];
    expect(await written(id)).toBeNull();
    uses.note(id);
    parts.clock.advance(500);
    expect([await written(id), await shown(other)]).toEqual([at('13:00:00.000'), null]);
  });

  it('is written at most once a minute, and is then the latest', async () => {
    const id = await issue();
    uses.note(id);
    await uses.flush();
    parts.clock.advance(20_000);
    uses.note(id);
    parts.clock.advance(39_999);
    uses.note(id);
    expect(await written(id)).toBe(at('13:00:00.000'));
    parts.clock.advance(1);
    expect(await written(id)).toBe(at('13:00:59.999'));
    parts.clock.advance(MINUTE_MS);
    expect(await written(id)).toBe(at('13:00:59.999'));
    uses.note(id);
    expect(await written(id)).toBe(at('13:02:00.000'));
  });

  it('is written of each key a minute after its own last writing', async () => {
    const [id, other] = [await issue(), await issue()];
    uses.note(id);
    await uses.flush();
    parts.clock.advance(30_000);
    uses.note(other);
    await uses.flush();
    uses.note(id);
    uses.note(other);
    parts.clock.advance(30_000);
    expect([await written(id), await written(other)]).toEqual([at('13:00:30.000'), at('13:00:30.000')]);
    parts.clock.advance(29_000);
    uses.note(other);
    expect(await written(other)).toBe(at('13:00:30.000'));
    parts.clock.advance(1_000);
    expect(await written(other)).toBe(at('13:01:29.000'));
  });

  it('is that of another process where that wrote it less than a minute ago', async () => {
    const id = await issue();
    const writeElsewhere = (time: string) =>
      parts.dataSource.query(`UPDATE api_keys SET last_used_at = '${at(time)}'`);
    await writeElsewhere('12:59:00.001');
    uses.note(id);
    expect(await written(id)).toBe(at('12:59:00.001'));
    parts.clock.advance(MINUTE_MS);
    await writeElsewhere('13:00:00.000');
    uses.note(id);
    expect(await written(id)).toBe(at('13:01:00.000'));
  });

  it.each([
    ['up to a minute ahead is of a clock that is a little fast', '13:01:00.000', '13:01:00.000'],
    ['further ahead is of a clock that was wrong', '13:01:00.001', '13:00:00.000'],
  ])('that is %s', async (_, before, expected) => {
    const id = await issue();
    await parts.dataSource.query(`UPDATE api_keys SET last_used_at = '${at(before)}'`);
    uses.note(id);
    expect(await written(id)).toBe(at(expected));
  });

  it('is written of 1,000 keys in one go, of each its own', async () => {
    const id = await issue();
    const columns = `client_id, prefix, scopes, created_at`;
    await parts.dataSource.query(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       INSERT INTO api_keys (id, digest, ${columns}) SELECT 'k' || i, 'd' || i, ${columns} FROM n, api_keys WHERE id = '${id}'`,
    );
    for (let key = 1; key <= 1_000; key += 1) {
      uses.note(`k${key}`);
      parts.clock.advance(1);
    }
    await uses.flush();
    const rows = await parts.dataSource.query<{ id: string; last_used_at: string | null }[]>(
      'SELECT id, last_used_at FROM api_keys',
    );
    const start = Date.parse(at('13:00:00.000'));
    for (const { id: key, last_used_at: used } of rows)
      expect([key, used && Date.parse(used)]).toEqual([
        key,
        key === id ? null : start + Number(key.slice(1)) - 1,
      ]);
  });

  it('costs no commit when none was used', async () => {
    const run = vi.spyOn(parts.cacheNeutralWrites, 'run');
    await uses.flush();
    expect(run).not.toHaveBeenCalled();
  });
});

describe('a last use that cannot be written', () => {
  const away = () => parts.dataSource.query('ALTER TABLE api_keys RENAME TO away');
  const back = () => parts.dataSource.query('ALTER TABLE away RENAME TO api_keys');

  it('is kept for the next time, which is told once', async () => {
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const id = await issue();
    for (let outage = 1; outage <= 2; outage += 1) {
      uses.note(id);
      await away();
      for (let failed = 0; failed < 2; failed += 1) {
        await uses.flush();
        expect(error).toHaveBeenCalledTimes(outage);
      }
      await back();
      expect(await written(id)).toBe(new Date(parts.clock.now()).toISOString());
      parts.clock.advance(MINUTE_MS);
    }
    expect(error).toHaveBeenLastCalledWith(
      'The last use of keys cannot be written; it is kept in memory',
      expect.any(Error),
    );
  });

  it('gives way to a later one', async () => {
    vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const id = await issue();
    uses.note(id);
    await away();
    const failing = uses.flush();
    // While it is on its way.
    parts.clock.advance(10);
    uses.note(id);
    await failing;
    await back();
    expect(await written(id)).toBe(at('13:00:00.010'));
    parts.clock.advance(MINUTE_MS);
    expect(await written(id)).toBe(at('13:00:00.010'));
  });
});

describe('the timer', () => {
  it('writes every second, and a last time at the stop', async () => {
    const [id, other] = [await issue(), await issue()];
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const flush = vi.spyOn(uses, 'flush');
    uses.onModuleInit();
    uses.note(id);
    vi.advanceTimersByTime(999);
    expect(flush).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await flush.mock.results[0]?.value;
    expect(await shown(id)).toBe(at('13:00:00.000'));
    uses.note(other);
    await uses.onModuleDestroy();
    expect(await shown(other)).toBe(at('13:00:00.000'));
    flush.mockClear();
    vi.advanceTimersByTime(5_000);
    expect(flush).not.toHaveBeenCalled();
  });

  it('keeps no process alive', () => {
    const unref = vi.fn<() => void>();
    vi.spyOn(globalThis, 'setInterval').mockReturnValue({ unref } as unknown as NodeJS.Timeout);
    uses.onModuleInit();
    expect(unref).toHaveBeenCalledOnce();
  });
});
