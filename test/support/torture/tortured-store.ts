import { expect, onTestFinished } from 'vitest';
import { freePort } from '../free-port.js';
import { admissionOf, type Admission } from './admission.js';
import { Instance } from './instance.js';
import { Ledger, type Comparison } from './ledger.js';
import { Load } from './load.js';
import { report } from './report.js';
import { SMALL_LIMIT, StoreFolder } from './store-folder.js';

/** How a store is run. */
export interface Running {
  /** How many processes serve it; default 1. */
  readonly instances?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** Whether 503 `service_unavailable` is promised while a fault lasts; otherwise it is unexpected. */
  readonly mayRefuse?: boolean;
}

/** What a scenario has shown, beside what was admitted; `ALL_WELL` is what it must show. */
export interface Outcome extends Comparison {
  readonly unexpected: readonly string[];
  readonly failedStops: readonly (number | null)[];
  readonly integrity: string;
}

/** Nothing lost, nothing twice, nothing answered that was not promised, every stop clean, and a sound file. */
export const ALL_WELL: Outcome = {
  lost: [],
  twice: [],
  unasked: [],
  unexpected: [],
  failedStops: [],
  integrity: 'ok',
};

/** A store that is served by some processes, under load, beside the ledger of what its clients were told. */
export class TorturedStore {
  private constructor(
    readonly folder: StoreFolder,
    readonly instances: readonly [Instance, ...Instance[]],
    readonly ledger: Ledger,
    private readonly load: Load,
  ) {}

  /** Starts the processes and the load. They end with the test. */
  static async start({
    instances = 1,
    environment = {},
    mayRefuse = false,
  }: Running): Promise<TorturedStore> {
    const folder = await StoreFolder.make();
    onTestFinished(() => folder.end());
    const start = async () => new Instance(folder.path, environment, await freePort());
    const all: [Instance, ...Instance[]] = [await start()];
    while (all.length < instances) all.push(await start());
    onTestFinished(async () => void (await Promise.all(all.map((instance) => instance.end()))));
    for (const instance of all) await instance.start();
    const ledger = new Ledger();
    const load = new Load(() => all.map(({ origin }) => origin), ledger, mayRefuse ? [503] : []);
    load.write(folder.key, 4).read(folder.key, 2).overdraw('small', folder.small, folder.key, 2);
    return new TorturedStore(folder, all, ledger, load);
  }

  /** Ends the load and the processes, and holds the store against the ledger, and reports both. */
  async outcome(name: string, faults: number): Promise<Outcome & { admission: Admission }> {
    const { folder, instances, ledger, load } = this;
    await load.end();
    const comparison = ledger.compare(await load.stored(folder.key));
    for (const instance of instances) await instance.stop();
    const ends = instances.flatMap((instance) => instance.ends);
    const admission = admissionOf(ledger, 'small', SMALL_LIMIT, ends, folder.blocked);
    const stops = instances.flatMap((instance) => instance.stops);
    report({ name, faults, ledger, comparison, stops, factor: admission.factor });
    // Or nothing would have been shown.
    expect(ledger.acknowledgements).toBeGreaterThan(0);
    return {
      ...comparison,
      unexpected: ledger.unexpected,
      failedStops: instances.flatMap((instance) => instance.failedStops),
      integrity: await folder.integrity(),
      admission,
    };
  }
}
