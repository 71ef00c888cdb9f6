import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { admissionOf } from './admission.js';
import { Instance } from './instance.js';
import { Ledger } from './ledger.js';
import { Load } from './load.js';
import { SeededRandom } from './random.js';
import { Report } from './report.js';
import { freePort, SMALL_LIMIT, StoreFolder } from './store-folder.js';

/** `PETSTORE_TORTURE=whole` takes some eight minutes; without it less than one is spent. */
const WHOLE = process.env.PETSTORE_TORTURE === 'whole';
/** What decides which fault comes when; a failed run names it. */
const SEED = Number(process.env.PETSTORE_TORTURE_SEED ?? Date.now() % 1_000_000);
/** Kills of the scenario that only kills, over both stores. */
const KILLS = WHOLE ? 200 : 12;
/** How many faults each other scenario has. */
const FAULTS = WHOLE ? 40 : 6;
/** Clean restarts, in turn, of two processes. */
const RESTARTS = WHOLE ? 20 : 4;
const report = new Report(SEED, WHOLE);
afterAll(() => report.print());

/** A store with a number of instances, under load. */
async function tortured(instances: number, environment: NodeJS.ProcessEnv, alsoAllowed: readonly number[]) {
  const folder = await StoreFolder.make();
  onTestFinished(() => folder.end());
  const all = await Promise.all(
    Array.from({ length: instances }, async () => new Instance(folder.path, environment, await freePort())),
  );
  onTestFinished(async () => void (await Promise.all(all.map((instance) => instance.end()))));
  for (const instance of all) await instance.start();
  const ledger = new Ledger();
  const load = new Load(() => all.map(({ origin }) => origin), ledger, alsoAllowed);
  load.write(folder.key, 4).read(folder.key, 2).overdraw('small', folder.smallKey, 2);
  const [first] = all as [Instance, ...Instance[]];
  return { folder, all, first, ledger, load };
}

/** What every scenario must show. */
const ALL_WELL = {
  lost: [],
  twice: [],
  unasked: [],
  unexpected: [],
  failedStops: [],
  integrity: 'ok',
  overAdmitted: 0,
};

/** Ends the load, holds the store against the ledger, and adds the line of the report. */
async function outcomeOf(name: string, faults: number, store: Awaited<ReturnType<typeof tortured>>) {
  const { folder, all, ledger, load } = store;
  await load.end();
  const comparison = ledger.compare(await load.stored(folder.key));
  for (const instance of all) await instance.stop();
  const stops = all.flatMap((instance) => instance.stops);
  const ends = all.flatMap((instance) => instance.ends);
  const { factor, unexplained } = admissionOf(ledger, 'small', SMALL_LIMIT, ends, folder.blocked);
  report.add({ name, faults, ledger, comparison, stops, factor });
  // Or nothing would have been shown.
  expect(ledger.acknowledgements).toBeGreaterThan(0);
  return {
    ...comparison,
    unexpected: ledger.unexpected,
    failedStops: all.flatMap((instance) => instance.failedStops),
    integrity: await folder.integrity(),
    // Processes that share nothing but the file count each on its own, as they say when they start.
    overAdmitted: Math.max(0, unexplained - (all.length - 1) * SMALL_LIMIT),
  };
}

describe(`torture with seed ${SEED}`, () => {
  it(`${KILLS} × kill -9, of two stores at a time`, async () => {
    const lanes = await Promise.all([1, 2].map(() => tortured(1, {}, [])));
    await Promise.all(
      lanes.map(async ({ first }, lane) => {
        const random = new SeededRandom(SEED + lane);
        for (let kill = 0; kill < KILLS / lanes.length; kill += 1) {
          await pause(random.between(20, 900));
          await first.kill();
        }
      }),
    );
    for (const [lane, store] of lanes.entries()) {
      expect(await outcomeOf(`kill -9, store ${lane + 1}`, KILLS / lanes.length, store)).toEqual(ALL_WELL);
    }
  });

  it('one process: kill, stop, pause, foreign lock, full disk', async () => {
    const random = new SeededRandom(SEED + 10);
    const store = await tortured(1, { SHUTDOWN_TIMEOUT_MS: '3000' }, [503]);
    const { folder, first } = store;
    const faults: readonly [() => Promise<void>, ...(() => Promise<void>)[]] = [
      () => first.kill(),
      () => first.restart(random.pick(['SIGTERM', 'SIGINT', 'SIGHUP'])),
      () => first.freeze(random.between(100, 3_000)),
      () => folder.lock(random.between(100, 8_000)),
      () => (folder.canBeFilled ? folder.fill(random.between(100, 3_000)) : Promise.resolve()),
      async () => {
        // Its last counts cannot be written in time, and are lost with it.
        await Promise.all([folder.lock(random.between(1_000, 6_000)), first.restart()]);
        first.ends.push(performance.now());
      },
    ];
    for (let fault = 0; fault < FAULTS; fault += 1) {
      await (fault < faults.length ? faults[fault] : random.pick(faults))?.();
      await pause(random.between(50, 800));
    }
    expect(await outcomeOf('one process, all faults', FAULTS, store)).toEqual(ALL_WELL);
  });

  it('two processes, restarted in turn: a client that sends again what was cut sees no refusal', async () => {
    const store = await tortured(2, {}, []);
    const { all } = store;
    for (let turn = 0; turn < RESTARTS; turn += 1) {
      await all[turn % 2]?.restart();
      await pause(300);
    }
    expect(await outcomeOf('two processes, restarted in turn', RESTARTS, store)).toEqual(ALL_WELL);
  });
});
