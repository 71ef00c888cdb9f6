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
});
