import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FAKETIME } from './requirements.js';

/** A wall clock for one process, by libfaketime, which looks at it once a second; the machine's is touched by nobody. */
export async function fakeClock(folder: string) {
  const file = join(folder, 'clock');
  const write = async (time: string): Promise<void> => {
    // At once: the library may read it at any moment.
    await writeFile(`${file}.new`, time);
    await rename(`${file}.new`, file);
  };
  /** By how many seconds it is ahead of the machine's. */
  const set = (ahead: number): Promise<void> =>
    write(`${ahead < 0 ? '-' : '+'}${Math.abs(Math.round(ahead))}`);
  /** Stops it at an instant, in ms since the Unix epoch, to the second. */
  const stopAt = (instant: number): Promise<void> =>
    write(new Date(instant).toISOString().slice(0, 19).replace('T', ' '));
  await set(0);
  const environment = {
    TZ: 'UTC',
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
  return { set, stopAt, environment };
}
