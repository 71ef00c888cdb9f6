import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DecisionBatches, LateAnswers, TimeoutError } from './redis-commands.js';

describe('decisions in batches', () => {
  /** Batches whose answers are the first argument of each decision, unless told otherwise. */
  function open(answerTo = (args: readonly (string | number)[]): unknown => args) {
    const runs: { keys: readonly string[]; args: readonly (string | number)[] }[] = [];
    const batches = new DecisionBatches((keys, args) => {
      runs.push({ keys, args });
      return Promise.resolve().then(() => answerTo(args));
    });
    return { batches, runs };
  }

  it('sends at most 32 in one command, so that Redis decides one while the answers to another are read', async () => {
    const { batches, runs } = open();
    const answers = await Promise.all(Array.from({ length: 70 }, (_, at) => batches.add([`${at}`], [at])));
    expect(answers).toEqual(Array.from({ length: 70 }, (_, at) => at));
    expect(runs.map(({ keys }) => keys.length)).toEqual([32, 32, 6]);
  });

  it('fails every decision of a command that fails, and none of the next', async () => {
    let isBroken = true;
    const { batches } = open((args) => {
      if (isBroken) throw new Error('broken');
      return args;
    });
    const failed = await Promise.allSettled([batches.add(['a'], [1]), batches.add(['b'], [2])]);
    expect(failed.map((outcome) => String((outcome as PromiseRejectedResult).reason))).toEqual([
      'Error: broken',
      'Error: broken',
    ]);
    isBroken = false;
    expect(await batches.add(['c'], [3])).toBe(3);
  });

  it.each([
    ['too few answers', [1]],
    ['too many', [1, 2, 3]],
    ['no list', 'OK'],
  ])('believes no answer of %s', async (_, answer) => {
    const { batches } = open(() => answer);
    const failed = await Promise.allSettled([batches.add(['a'], [1]), batches.add(['b'], [2])]);
    expect(failed).toMatchObject([
      { reason: { message: 'it returned a wrong number of decisions' } },
      { reason: { message: 'it returned a wrong number of decisions' } },
    ]);
  });
});

describe('an answer that is late', () => {
  const LIMIT_MS = 50;
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  const after = (parts: number) => new Promise((resolve) => setTimeout(resolve, parts * LIMIT_MS, 'answer'));

  /** Answers that come after so many limits, in groups that are sent together; what becomes of each, and what failed. */
  async function send(groups: readonly (readonly number[])[], isUsed = true) {
    const failures: unknown[] = [];
    const late = new LateAnswers(
      LIMIT_MS,
      () => isUsed,
      (error) => failures.push(error),
    );
    const outcomes: string[] = [];
    for (const group of groups) {
      const all = Promise.allSettled(group.map((parts) => late.inTime(after(parts))));
      await vi.advanceTimersByTimeAsync(4 * LIMIT_MS);
      outcomes.push(...(await all).map(({ status }) => status));
    }
    return { outcomes: outcomes.join(' '), failures: failures.map(String) };
  }
  const failure = String(new TimeoutError(LIMIT_MS));

  it.each<[string, readonly (readonly number[])[], boolean, string, readonly string[]]>([
    ['once is waited for, as are all with it', [[1.5, 2.5, 0.5]], true, 'fulfilled fulfilled fulfilled', []],
    ['by three limits is given up', [[3.5]], true, 'rejected', [failure]],
    ['is given up at once while nothing is decided there', [[1.5]], false, 'rejected', [failure]],
    [
      'for the third time in a row is given up',
      [[1.2], [1.2], [1.2]],
      true,
      'fulfilled fulfilled rejected',
      [failure],
    ],
    [
      'again is waited for when one in between was not',
      [[1.2], [1.2], [0.5], [1.2], [1.2]],
      true,
      'fulfilled fulfilled fulfilled fulfilled fulfilled',
      [],
    ],
  ])('%s', async (_, groups, isUsed, outcomes, failures) => {
    expect(await send(groups, isUsed)).toEqual({ outcomes, failures });
  });
});
