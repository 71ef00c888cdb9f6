import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { brokenPromises } from '../support/history/checks.js';
import { Deployment } from '../support/history/deployment.js';
import { falsified } from '../support/history/falsified.js';
import { makeFaults } from '../support/history/faults.js';
import { type History, emptyHistory } from '../support/history/history.js';
import { Load, SMALL_LIMIT } from '../support/history/load.js';
import { type Promises, type Topology, promisesOf } from '../support/history/promises.js';
import { describeWith } from '../support/requirements.js';
import { SeededRandom } from '../support/torture/random.js';

/** What decides which fault comes when; the names of the tests have it. */
const SEED = Number(process.env.PETSTORE_HISTORY_SEED ?? Date.now() % 1_000_000);
/** How long there are faults, in milliseconds. */
const FAULTS_MS = Number(process.env.PETSTORE_HISTORY_SECONDS ?? 75) * 1_000;
/** What is done without a fault at the end, in milliseconds. */
const CALM_MS = 3_000;

async function runOf(topology: Topology): Promise<History> {
  const deployment = await Deployment.start(topology);
  const history = emptyHistory(deployment.instances.length, SMALL_LIMIT);
  const load = await Load.start(history, deployment, SEED);
  // What comes before the first fault is exact.
  await expect.poll(() => history.counted.filter(({ status }) => status === 200).length).toBeGreaterThan(10);
  await makeFaults(history, deployment, new SeededRandom(SEED), FAULTS_MS);
  history.heals.push(...(await load.heals()));
  await pause(CALM_MS);
  await load.end();
  history.faults.push(...deployment.aloneSpans());
  history.stored.push(...(await deployment.parts.stored()));
  return history;
}

/** Whether there was enough of all to show something. */
const isFull = ({ posts, reads, counted }: History): boolean =>
  posts.filter(({ text }) => text !== undefined).length > 20 && reads.length > 200 && counted.length > 20;

/** What is made wrong in a history and not found by the checks. */
const overlooked = (history: History, promises: Promises): string[] =>
  falsified(history)
    .filter(([, wrong, message]) => !message.test(brokenPromises(wrong, promises).join('\n')))
    .map(([what]) => what);

describeWith('postgres-server', `the history with seed ${SEED}`, () => {
  it('of two instances on PostgreSQL with Redis keeps every promise', async () => {
    const history = await runOf('postgres');
    const promises = promisesOf('postgres');
    expect(brokenPromises(history, promises)).toEqual([]);
    expect([isFull(history), overlooked(history, promises)]).toEqual([true, []]);
  });
});

describeWith('faketime', `the history with seed ${SEED}`, () => {
  it('of one instance on SQLite alongside the command line keeps every promise', async () => {
    const history = await runOf('sqlite');
    const promises = promisesOf('sqlite');
    expect(brokenPromises(history, promises)).toEqual([]);
    expect([isFull(history), overlooked(history, promises)]).toEqual([true, []]);
  });
});
