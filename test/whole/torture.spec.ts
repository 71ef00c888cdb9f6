import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { fakeClock } from '../support/fake-clock.js';
import { describeWith } from '../support/requirements.js';
import { folderOfTest } from '../support/service-process.js';
import { SeededRandom } from '../support/torture/random.js';
import { ALL_WELL, SMALL_LIMIT, TorturedStore } from '../support/torture/tortured-store.js';

/** What decides which fault comes when; the names of the tests have it. */
const SEED = Number(process.env.PETSTORE_TORTURE_SEED ?? Date.now() % 1_000_000);
/** Kills of the scenario that only kills, over its stores. */
const KILLS = 200;
const STORES = 2;
/** How many faults each other scenario has. */
const FAULTS = 40;

/** No scenario makes faults for longer, in milliseconds, so that all of it is over in ten minutes; the one that only kills may. */
const LONGEST_MS = 90_000;
const LONGEST_KILLING_MS = 240_000;

type Fault = () => Promise<void>;

/** Makes each fault once and then any of them, with a little time in between. */
async function make(faults: readonly [Fault, ...Fault[]], random: SeededRandom): Promise<void> {
  const end = performance.now() + LONGEST_MS;
  for (let made = 0; made < FAULTS && performance.now() < end; made += 1) {
    await (faults[made] ?? random.pick(faults))();
    await pause(random.between(50, 800));
  }
}

describe(`torture with seed ${SEED}`, () => {
  it(`${KILLS} × kill -9, of ${STORES} stores at a time`, async () => {
    const stores: TorturedStore[] = [];
    while (stores.length < STORES) stores.push(await TorturedStore.start({}));
    const end = performance.now() + LONGEST_KILLING_MS;
    const kills = stores.map(async ({ instance }, index) => {
      const random = new SeededRandom(SEED + index);
      for (let made = 0; made < KILLS / stores.length && performance.now() < end; made += 1) {
        await pause(random.between(20, 900));
        await instance.kill();
      }
    });
    await Promise.all(kills);
    for (const store of stores) {
      const outcome = await store.outcome();
      expect(outcome).toMatchObject(ALL_WELL);
      expect(outcome.admission.unexplained).toBeLessThanOrEqual(0);
    }
  });
});

describe(`the other faults with seed ${SEED}`, () => {
  it('one process: kill, stop, pause, foreign lock, full disk', async () => {
    const random = new SeededRandom(SEED + 10);
    const store = await TorturedStore.start({
      environment: { SHUTDOWN_TIMEOUT_MS: '3000' },
      mayRefuse: true,
    });
    const service = store.instance;
    await make(
      [
        () => service.kill(),
        () => service.restart(random.pick(['SIGTERM', 'SIGINT'])),
        () => service.freeze(random.between(100, 3_000)),
        () => store.lock(random.between(100, 3_500)),
        () => store.fill(random.between(100, 3_000)),
        async () => {
          // Its last counts may not be written in time, and are lost with it.
          const locked = store.lock(random.between(1_000, 5_000));
          await service.stop();
          service.ends.push(performance.now());
          await locked;
          await service.start();
        },
      ],
      random,
    );
    const outcome = await store.outcome();
    expect(outcome).toMatchObject(ALL_WELL);
    expect(outcome.admission.unexplained).toBeLessThanOrEqual(0);
  });
});

describeWith('faketime', `torture with another clock and seed ${SEED}`, () => {
  it('one process whose clock is set by up to two hours, and which is killed in between', async () => {
    const random = new SeededRandom(SEED + 30);
    const { set, environment } = await fakeClock(await folderOfTest());
    let steps = 0;
    const setClock = async (ahead: number): Promise<void> => {
      await set(ahead);
      steps += 1;
      await pause(1_200);
    };
    const store = await TorturedStore.start({ environment });
    const startedAt = performance.now();
    const service = store.instance;
    await make([() => setClock(random.between(-7_200, 7_200)), () => service.kill()], random);
    const outcome = await store.outcome();
    expect(outcome).toMatchObject(ALL_WELL);
    const minutes = Math.ceil((performance.now() - startedAt) / 60_000) + 1;
    // Each step may open one minute, each crash lose the counts of its last second.
    expect(outcome.admission.total).toBeLessThanOrEqual(
      SMALL_LIMIT * (minutes + steps) + outcome.admission.lost,
    );
  });
});
