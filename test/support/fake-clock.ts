import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FAKETIME } from './requirements.js';

/** A wall clock for one process, implemented with libfaketime, which reads the time once a second. The machine's clock is not changed. */
export async function fakeClock(folder: string) {
  const file = join(folder, 'clock');
  const write = async (time: string): Promise<void> => {
    // Written atomically, because the library may read the file at any time.
    await writeFile(`${file}.new`, time);
    await rename(`${file}.new`, file);
  };
  /** How far the clock is ahead of the machine's, in seconds. */
  const set = (ahead: number): Promise<void> =>
    write(`${ahead < 0 ? '-' : '+'}${Math.abs(Math.round(ahead))}`);
  /** Stops the clock at an instant, in ms since the Unix epoch, with a precision of one second. */
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
