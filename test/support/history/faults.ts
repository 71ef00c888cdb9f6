import { setTimeout as pause } from 'node:timers/promises';
import type { SeededRandom } from '../torture/random.js';
import type { Deployment } from './deployment.js';
import { type FaultKind, type History, now } from './history.js';

/** Pause between two faults, in milliseconds. */
const CALM_MS = { least: 500, most: 3_500 };
/** How long an instance serves between two faults, in milliseconds. */
const SERVES_MS = 5_000;

interface Possible {
  readonly kind: FaultKind;
  /** The instance, if the fault affects only one. */
  readonly on?: number;
  readonly make: () => Promise<void>;
}

/**
 * Injects faults one after another for a time, in milliseconds: each kind once, and then random ones. Faults of Redis and of clocks are
 * injected only in the second half, so that counts are exact in the first half.
 */
export async function makeFaults(
  { faults }: History,
  deployment: Deployment,
  random: SeededRandom,
  ms: number,
): Promise<void> {
  const startedAt = now();
  const first = faultsOfProcesses(deployment, random);
  const second = [...faultsOfRedis(deployment, random), ...faultsOfClock(deployment, random)];
  let restarting: Promise<void> | undefined;
  for (const [choices, until] of [
    [first, startedAt + ms / 2],
    [[...second, ...first], startedAt + ms],
  ] as const) {
    for (let at = 0; now() < until; at += 1) {
      await pause(random.between(CALM_MS.least, CALM_MS.most));
      const fault = choices[at] ?? choices[Math.floor(random.between(0, choices.length))];
      // On a busy machine, an instance takes long to start. Other faults are injected meanwhile, and the instance then serves for some
      // time.
      if (fault === undefined || (fault.on !== undefined && restarting)) continue;
      const { kind, on } = fault;
      const start = now();
      const injected = fault.make().then(() => void faults.push({ kind, start, end: now(), on }));
      if (on === undefined) await injected;
      else restarting = injected.then(() => pause(SERVES_MS)).then(() => void (restarting = undefined));
    }
  }
  await restarting;
}

function faultsOfProcesses(deployment: Deployment, random: SeededRandom): Possible[] {
  const { instances, postgres } = deployment.parts;
  const ofInstances = instances.flatMap((instance, on): Possible[] => [
    { kind: 'instance killed', on, make: () => deployment.restart(instance, 'SIGKILL') },
    { kind: 'instance restarted', on, make: () => deployment.restart(instance, 'SIGTERM') },
  ]);
  if (postgres === undefined)
    return [...ofInstances, { kind: 'database locked', make: () => lock(deployment, random) }];
  return [
    ...ofInstances,
    {
      kind: 'database restarted',
      make: async () => {
        await postgres.primary.stop(random.pick<'fast' | 'immediate'>(['fast', 'immediate']));
        await pause(random.between(0, 1_000));
        await postgres.primary.start();
      },
    },
    {
      kind: 'database paused',
      make: async () => {
        postgres.primary.signal('SIGSTOP');
        await pause(random.between(200, 4_000));
        postgres.primary.signal('SIGCONT');
      },
    },
    { kind: 'sessions ended', make: () => postgres.primary.endSessions() },
    { kind: 'database failed over', make: () => postgres.failOver() },
  ];
}

function faultsOfRedis({ parts: { redis } }: Deployment, random: SeededRandom): Possible[] {
  if (redis === undefined) return [];
  return [
    {
      kind: 'redis killed',
      make: async () => {
        await redis.kill();
        await pause(random.between(0, 3_000));
        await redis.start();
      },
    },
    {
      kind: 'redis paused',
      make: async () => {
        redis.signal('SIGSTOP');
        await pause(random.between(100, 4_000));
        redis.signal('SIGCONT');
      },
    },
    { kind: 'redis flushed', make: async () => void redis.command('FLUSHALL') },
  ];
}

function faultsOfClock({ parts: { setClock } }: Deployment, random: SeededRandom): Possible[] {
  if (setClock === undefined) return [];
  // The library reads the time once a second.
  const make = async () => {
    await setClock(random.between(-7_200, 7_200));
    await pause(1_200);
  };
  return [{ kind: 'clock set', make }];
}

/** Holds the write lock, as another program might. */
async function lock(deployment: Deployment, random: SeededRandom): Promise<void> {
  await deployment.parts.session().change('SELECT 1', 'late', random.between(200, 3_000));
}
