import { Logger } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import { openParts } from '../../../test/support/service-parts.js';
import { DAY_MS } from '../../throttling/quota.js';
import { DeprecatedCallsService } from './deprecated-calls.service.js';

const GET_PET = 'GET /v1/pets/:petId';

async function open() {
  const parts = await openParts();
  const { deprecated: calls, dataSource, clock } = parts;
  const note = (clientId: string, operation: string, times: number) => {
    for (let noted = 0; noted < times; noted += 1) calls.note(clientId, operation);
  };
  const rows = () =>
    dataSource.query<Record<string, unknown>[]>('SELECT * FROM deprecated_calls ORDER BY client_id');
  const today = () => Math.floor(clock.now() / DAY_MS) * DAY_MS;
  return { ...parts, calls, note, rows, today };
}

describe('calls of deprecated operations', () => {
  it('are counted by client, operation and day, and shown once they are written', async () => {
    const { calls, note, rows, today } = await open();
    note('a', GET_PET, 2);
    note('a', 'GET /v1/old', 1);
    note('b', GET_PET, 3);
    expect(await calls.of(['a', 'b'], 7)).toEqual([]);
    await calls.flush();
    expect(await calls.of(['a', 'b'], 7)).toEqual([
      { clientId: 'a', operation: 'GET /v1/old', calls: 1, lastDay: '2026-11-20' },
      { clientId: 'a', operation: GET_PET, calls: 2, lastDay: '2026-11-20' },
      { clientId: 'b', operation: GET_PET, calls: 3, lastDay: '2026-11-20' },
    ]);
    expect(await calls.of(['b'], 7)).toHaveLength(1);
    expect((await rows()).map(({ day }) => day)).toEqual([today(), today(), today()]);
  });

  it('add up to what is written, by this process or another', async () => {
    const { calls, note, dataSource, cacheNeutralWrites, clock, sweeper } = await open();
    const other = new DeprecatedCallsService(dataSource, cacheNeutralWrites, clock, sweeper);
    note('a', GET_PET, 2);
    await calls.flush();
    note('a', GET_PET, 3);
    await calls.flush();
    await calls.flush();
    other.note('a', GET_PET);
    await other.flush();
    expect(await calls.of(['a'], 1)).toMatchObject([{ calls: 6 }]);
  });

  it('are added up over the days that are asked for, and the last of them is told', async () => {
    const { calls, note, clock } = await open();
    for (const times of [1, 10, 100]) {
      note('a', GET_PET, times);
      clock.advance(DAY_MS);
    }
    await calls.flush();
    const told = async (days: number) =>
      (await calls.of(['a'], days)).map(({ calls: number, lastDay }) => [number, lastDay]);
    expect(await told(1)).toEqual([]);
    expect(await told(2)).toEqual([[100, '2026-11-22']]);
    expect(await told(3)).toEqual([[110, '2026-11-22']]);
    expect(await told(4)).toEqual([[111, '2026-11-22']]);
    expect(await told(90)).toEqual([[111, '2026-11-22']]);
  });

  it('are written for 1,000 clients in one go', async () => {
    const { calls, note, rows } = await open();
    for (let client = 0; client < 1_000; client += 1) note(`client-${client}`, GET_PET, 1);
    await calls.flush();
    const written = await rows();
    expect(written).toHaveLength(1_000);
    expect(new Set(written.map(({ client_id: id }) => id)).size).toBe(1_000);
    expect(written.every((row) => row['calls'] === 1 && row['operation'] === GET_PET)).toBe(true);
  });

  it('commit nothing when there are none', async () => {
    const { calls, cacheNeutralWrites } = await open();
    const run = vi.spyOn(cacheNeutralWrites, 'run');
    await calls.flush();
    expect(run).not.toHaveBeenCalled();
  });

  it('are kept while they cannot be written, which is told once', async () => {
    const { calls, note, dataSource } = await open();
    const error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    const failTwice = async (outage: number) => {
      await dataSource.query('ALTER TABLE deprecated_calls RENAME TO away');
      for (let failed = 0; failed < 2; failed += 1) {
        note('a', GET_PET, 1);
        await calls.flush();
        expect(error).toHaveBeenCalledTimes(outage);
      }
      await dataSource.query('ALTER TABLE away RENAME TO deprecated_calls');
      await calls.flush();
    };
    await failTwice(1);
    expect(error.mock.calls).toEqual([
      ['Calls of deprecated operations cannot be written; they are kept in memory', expect.any(Error)],
    ]);
    expect(await calls.of(['a'], 1)).toMatchObject([{ calls: 2 }]);
    await failTwice(2);
    expect(await calls.of(['a'], 1)).toMatchObject([{ calls: 4 }]);
  });

  it('are forgotten after 90 days', async () => {
    const { calls, note, clock, sweeper, rows } = await open();
    note('a', GET_PET, 1);
    await calls.flush();
    clock.advance(90 * DAY_MS);
    await sweeper.sweep();
    expect(await rows()).toHaveLength(1);
    clock.advance(DAY_MS);
    await sweeper.sweep();
    expect(await rows()).toEqual([]);
  });

  it('are written every second, and a last time at the stop', async () => {
    const { calls, note, rows } = await open();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const flush = vi.spyOn(calls, 'flush');
    calls.onModuleInit();
    note('a', GET_PET, 1);
    vi.advanceTimersByTime(999);
    expect(flush).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    await flush.mock.results[0]?.value;
    expect(await rows()).toHaveLength(1);
    note('b', GET_PET, 1);
    await calls.onModuleDestroy();
    expect(await rows()).toHaveLength(2);
    flush.mockClear();
    vi.advanceTimersByTime(5_000);
    expect(flush).not.toHaveBeenCalled();
  });

  it('keep no process alive', async () => {
    const { calls } = await open();
    const unref = vi.fn<() => void>();
    vi.spyOn(globalThis, 'setInterval').mockReturnValue({ unref } as unknown as NodeJS.Timeout);
    calls.onModuleInit();
    expect(unref).toHaveBeenCalledOnce();
  });
});
