import * as fs from 'node:fs';
import { Logger } from '@nestjs/common';
import { type MockInstance, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiError } from '../../../core/errors/api-error.js';
import { DatabaseFiles } from './database-files.js';
import { SqliteAvailability } from './sqlite-availability.js';

vi.mock('node:fs', async (original) => ({
  ...(await original<typeof fs>()),
  statfsSync: vi.fn<() => void>(),
}));

const FILE = '/data/store.sqlite';
let error: MockInstance<Logger['error']>;
let log: MockInstance<Logger['log']>;
const lines = ({ mock }: MockInstance<Logger['log']> | MockInstance<Logger['error']>) =>
  mock.calls.map(([line]) => String(line));

/** Simulates this much free disk space. */
function free(bytes: number): void {
  vi.mocked(fs.statfsSync).mockReturnValue({ bavail: bytes, bsize: 1 } as fs.StatsFs);
}

beforeEach(() => {
  vi.useFakeTimers();
  error = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  log = vi.spyOn(Logger.prototype, 'log').mockReturnValue();
  free(1e9);
});

describe('a write that fails', () => {
  const fail = (availability: SqliteAvailability, code: string) =>
    availability.writeError(new Error(`${code}: disk I/O error`), code, 0) as ApiError;

  it('is attributed to a failing disk if that has free space', () => {
    const availability = new SqliteAvailability(FILE, new DatabaseFiles());
    expect(fail(availability, 'SQLITE_IOERR')).toMatchObject({ isLogged: true });
    expect(lines(error)).toEqual([expect.stringContaining('cannot be written to: the disk is failing')]);
    expect(availability.reason).toBe('the database cannot be written to: the disk is failing');
  });

  it('is attributed to the full disk, for every error of SQLite', () => {
    free(4_096);
    const availability = new SqliteAvailability(FILE, new DatabaseFiles());
    expect(fail(availability, 'SQLITE_IOERR')).toMatchObject({ isLogged: true });
    expect(lines(error)).toEqual([expect.stringContaining('cannot be written to: the disk is full')]);
    expect(availability.reason).toBe('the database cannot be written to: the disk is full');
    fail(availability, 'SQLITE_FULL');
    expect(error).toHaveBeenCalledOnce();
  });

  it('is attributed to a failing disk if its free space is unknown', () => {
    vi.mocked(fs.statfsSync).mockImplementation(() => {
      throw new Error('EIO');
    });
    const availability = new SqliteAvailability(FILE, new DatabaseFiles());
    fail(availability, 'SQLITE_IOERR');
    expect(availability.reason).toBe('the database cannot be written to: the disk is failing');
  });
});

describe('a read that fails', () => {
  const fail = (availability: SqliteAvailability, code: string) =>
    availability.readError(new Error(`${code}: it failed`), code) as ApiError;

  it.each([
    ['SQLITE_BUSY', 'it is locked by another process, or by a long write'],
    ['SQLITE_LOCKED', 'it is locked by another process, or by a long write'],
    ['SQLITE_IOERR', 'the disk is failing'],
    ['SQLITE_CANTOPEN', 'it cannot be opened'],
  ])('with %s is logged once, no matter how many follow, and once when it is over', (code, what) => {
    const availability = new SqliteAvailability(FILE, new DatabaseFiles());
    for (let outage = 1; outage <= 2; outage += 1) {
      for (let refused = 0; refused < 100; refused += 1) {
        expect(fail(availability, code)).toMatchObject({ isLogged: true });
        vi.advanceTimersByTime(9_999);
      }
      expect([error.mock.calls.length, log.mock.calls.length]).toEqual([outage, outage - 1]);
      vi.advanceTimersByTime(1);
      expect([error.mock.calls.length, log.mock.calls.length]).toEqual([outage, outage]);
    }
    expect(lines(error)[0]).toContain(`${FILE} cannot be read: ${what} (${code}: it failed). `);
    expect(lines(error)[0]).toMatch(/refused with 503\. .*; the service recovers automatically\.$/);
    expect(lines(log)[0]).toBe(`No read of ${FILE} has been refused for 10 s`);
  });

  it('is logged while writes fail', () => {
    const availability = new SqliteAvailability(FILE, new DatabaseFiles());
    availability.writeError(new Error('SQLITE_FULL'), 'SQLITE_FULL', 0);
    fail(availability, 'SQLITE_IOERR');
    expect(lines(error).map((line) => line.slice(0, 40))).toEqual([
      expect.stringContaining('cannot be written'),
      expect.stringContaining('cannot be read'),
    ]);
  });

  it('for a defect of the service stays what it is', () => {
    const availability = new SqliteAvailability(FILE, new DatabaseFiles());
    const defect = new Error('no such table');
    expect(availability.readError(defect, 'SQLITE_ERROR')).toBe(defect);
    expect(error).not.toHaveBeenCalled();
  });
});
