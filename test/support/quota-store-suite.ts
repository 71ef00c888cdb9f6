import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BanRules } from '../../src/throttling/bans.js';
import { DAY_MS, MINUTE_MS } from '../../src/core/time/duration.js';
import { type QuotaRequest, quotaHeaders } from '../../src/throttling/quota.js';
import type { QuotaStore } from '../../src/throttling/quota-store.js';
import { QuotaModel } from './quota-model.js';
import { TestClock } from '../kit/test-clock.js';

/** Ban durations that are short enough for random walks to reach the longest one. */
export const SHORT_RULES: BanRules = {
  strikesToBan: 3,
  gracePeriodMs: 2_000,
  minStrikeIntervalMs: 1_000,
  banDurationsMs: [5 * MINUTE_MS, 15 * MINUTE_MS, DAY_MS],
  resetMs: DAY_MS,
};

/** Prefixes of subjects. A Redis Cluster must keep all keys of a subject in the same slot. */
const SUBJECTS = ['client:', 'address:2001:db8::', 'user:{x}', '}', '{}', '%', 'é'];

/** The properties of the store under test. */
export interface StoreUnderTest {
  /** Creates instances that count together, with empty counters. */
  open(rules: BanRules): Promise<QuotaStore[]>;
  /** See QuotaModel. */
  readonly isOfOneProcess: boolean;
  close?(): Promise<void>;
  /** The number of random walks; fewer for a store behind a network. */
  readonly runs: number;
}

type Step =
  | { readonly kind: 'take' | 'peek'; readonly client: number; readonly key: number; readonly route: boolean }
  /** Requests of one key at a steady pace, which lead to strikes. */
  | {
      readonly kind: 'burst';
      readonly client: number;
      readonly key: number;
      readonly route: boolean;
      readonly times: number;
      readonly gapMs: number;
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'step'; readonly ms: number }
  | { readonly kind: 'plan'; readonly client: number; readonly perMinute: number; readonly perDay: number }
  | { readonly kind: 'unban'; readonly client: number; readonly key: number };

const client = fc.nat(1);
const key = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('take' as const), client, key, route: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('burst' as const),
      client,
      key,
      route: fc.boolean(),
      times: fc.integer({ min: 4, max: 16 }),
      gapMs: fc.constantFrom(0, 100, 500, 999, 1_000, 2_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('peek' as const), client, key, route: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      // Within a window, to its end, beyond a ban, and into another day.
      ms: fc.oneof(
        fc.integer({ min: 1, max: 3_000 }),
        fc.constantFrom(MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, DAY_MS, 2 * DAY_MS),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('step' as const),
      ms: fc.oneof(
        fc.integer({ min: -3 * MINUTE_MS, max: 3 * MINUTE_MS }),
        fc.constantFrom(-500, -59_000, -MINUTE_MS, -60 * MINUTE_MS, -DAY_MS, -400 * DAY_MS),
        fc.constantFrom(500, 60 * MINUTE_MS, DAY_MS, 400 * DAY_MS),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('plan' as const),
      client,
      perMinute: fc.integer({ min: 1, max: 5 }),
      perDay: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unban' as const), client, key }) },
);

/** The suite that every QuotaStore must pass. */
export function describeQuotaStore(name: string, under: StoreUnderTest): void {
  // oxlint-disable-next-line vitest/valid-title -- the title is the caller's
  describe(name, () => {
    let stores: QuotaStore[] = [];
    let walk = 0;
    beforeAll(async () => {
      stores = await under.open(SHORT_RULES);
    });
    afterAll(() => under.close?.());

    const limits = (perMinute: number, perDay: number) => ({ perMinute, perDay });
    /** Each walk uses different subjects, so that all of them can share a store. */
    const requestOf = (
      owner: number,
      apiKey: number,
      plan: { perMinute: number; perDay: number },
      route = false,
    ): QuotaRequest => {
      const subject = `${SUBJECTS[walk % SUBJECTS.length]}${walk}-${owner}`;
      const minute = {
        key: route ? `${subject}:Toys.rare` : subject,
        name: 'minute',
        limit: route ? 2 : plan.perMinute,
        lengthMs: route ? 10_000 : MINUTE_MS,
      };
      return {
        subject,
        isClient: true,
        keyId: `${walk}-${owner}-${apiKey}`,
        windows: [minute, { key: subject, name: 'day', limit: plan.perDay, lengthMs: DAY_MS }],
      };
    };
    const anyStore = (index: number): QuotaStore => stores[index % stores.length] as QuotaStore;

    it('decides as the model does, whatever happens in whatever order', async () => {
      let bans = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
          walk += 1;
          if (under.isOfOneProcess) stores = await under.open(SHORT_RULES);
          const model = new QuotaModel(SHORT_RULES, under.isOfOneProcess);
          const clock = new TestClock('2026-11-20T23:58:00.000Z');
          const plans = [limits(3, 8), limits(4, 100)];
          const compare = async (
            kind: 'take' | 'peek',
            index: number,
            request: QuotaRequest,
          ): Promise<void> => {
            const at = clock.now();
            const verdict = await anyStore(index)[kind](request, at);
            expect(verdict).toEqual(model[kind](request, at));
            if (verdict.banBegins) bans += 1;
          };
          for (const [index, one] of steps.entries()) {
            if (one.kind === 'wait') clock.advance(one.ms);
            else if (one.kind === 'step') clock.step(one.ms);
            else if (one.kind === 'burst') {
              for (let sent = 0; sent < one.times; sent += 1) {
                await compare(
                  'take',
                  index + sent,
                  requestOf(one.client, one.key, plans[one.client] ?? limits(1, 1), one.route),
                );
                clock.advance(one.gapMs);
              }
            } else if (one.kind === 'plan') plans[one.client] = limits(one.perMinute, one.perDay);
            else if (one.kind === 'unban') {
              const { keyId = '', subject } = requestOf(one.client, one.key, limits(1, 1));
              model.unban(keyId);
              for (const store of under.isOfOneProcess ? stores : stores.slice(0, 1))
                await store.unban(keyId, subject, clock.now());
            } else {
              await compare(
                one.kind,
                index,
                requestOf(one.client, one.key, plans[one.client] ?? limits(1, 1), one.route),
              );
            }
          }
        }),
        { numRuns: under.runs },
      );
      expect(bans).toBeGreaterThan(under.runs / 20);
    });

    it('never refuses a client that follows the headers, nor makes it wait longer than necessary', async () => {
      let waits = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.record({
            perMinute: fc.integer({ min: 1, max: 4 }),
            perDay: fc.integer({ min: 1, max: 9 }),
            withRoute: fc.boolean(),
            start: fc.integer({ min: 0, max: 3 * MINUTE_MS }),
            pauses: fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 10, maxLength: 40 }),
          }),
          async ({ perMinute, perDay, withRoute, start, pauses }) => {
            walk += 1;
            const plain = requestOf(0, 0, limits(perMinute, perDay));
            // The same limit as for the minute, and a window that often ends after it.
            const ofRoute = {
              key: `${plain.subject}:route`,
              name: 'route',
              limit: perMinute,
              lengthMs: 45_000,
            };
            const request = withRoute ? { ...plain, windows: [...plain.windows, ofRoute] } : plain;
            let now = Date.parse('2026-11-20T23:55:00.250Z') + start;
            for (const [index, pause] of pauses.entries()) {
              const verdict = await anyStore(index).take(request, now);
              const headers = quotaHeaders(verdict);
              expect(verdict.admitted, 'a request that the headers allowed').toBe(true);
              const remaining = Number(headers['X-RateLimit-Remaining']);
              expect(remaining).toBe(Math.min(...verdict.windows.map((window) => window.remaining)));
              if (remaining > 0) {
                now += pause;
                continue;
              }
              waits += 1;
              const reset = Number(headers['X-RateLimit-Reset']) * 1_000;
              expect((await anyStore(index).peek(request, reset - 1)).admitted, 'just before').toBe(false);
              now = reset;
            }
          },
        ),
        { numRuns: Math.ceil(under.runs / 4) },
      );
      expect(waits).toBeGreaterThan(0);
    });

    it('returns the first whole second at which a refused client is admitted again', async () => {
      const refusals = { byQuota: 0, byBan: 0 };
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 4 }),
          fc.integer({ min: 1, max: 9 }),
          // The number of consecutive requests without waiting. Walks with a high number are banned.
          fc.integer({ min: 0, max: 9 }),
          fc.array(fc.integer({ min: 0, max: 1_500 }), { minLength: 10, maxLength: 60 }),
          async (perMinute, perDay, haste, pauses) => {
            walk += 1;
            let hasty = 0;
            const request = requestOf(0, 0, limits(perMinute, perDay));
            let now = Date.parse('2026-11-20T23:58:00.250Z');
            for (const [index, pause] of pauses.entries()) {
              const verdict = await anyStore(index).take(request, now);
              const headers = quotaHeaders(verdict);
              now += pause;
              if (verdict.admitted) continue;
              refusals[verdict.bannedUntil === undefined ? 'byQuota' : 'byBan'] += 1;
              const wait = Number(headers['Retry-After']) * 1_000;
              const until = (instant: number) => anyStore(index).peek(request, instant);
              expect((await until(verdict.at + wait - 1_000)).admitted, 'a second before').toBe(false);
              expect(Number(headers['X-RateLimit-Remaining'])).toBe(0);
              expect(headers.RateLimit).toMatch(new RegExp(`r=0;t=${wait / 1_000}(,|$)`));
              if (hasty++ < haste) continue;
              hasty = 0;
              now = index % 2 === 1 ? verdict.at + wait : Number(headers['X-RateLimit-Reset']) * 1_000;
              // A ban reports only its own end. The daily quota may still be used up then.
              const { admitted, bannedUntil } = await until(now);
              expect(bannedUntil, 'the ban at the end of the wait').toBe(undefined);
              if (verdict.bannedUntil === undefined) expect(admitted, 'at the end of the wait').toBe(true);
            }
          },
        ),
        // A walk that sends a request every second and is certainly banned, because few of the random ones are.
        {
          numRuns: Math.ceil(under.runs / 4),
          examples: [[1, 9, 60, Array.from({ length: 60 }, () => 1_000)]],
        },
      );
      expect(Math.min(refusals.byQuota, refusals.byBan)).toBeGreaterThan(0);
    });

    it('admits exactly the limit of requests that arrive together, over all instances', async () => {
      walk += 1;
      const now = Date.parse('2026-11-20T12:00:30.000Z');
      const request = requestOf(0, 0, limits(50, 10_000));
      const verdicts = await Promise.all(
        Array.from({ length: 120 }, async (_, index) => anyStore(index).take(request, now)),
      );
      expect(verdicts.filter(({ admitted }) => admitted)).toHaveLength(50);
      const { windows } = await anyStore(0).peek(request, now);
      expect(windows.map(({ remaining }) => remaining)).toEqual([0, 9_950]);
    });

    it('forgets a ban that a day of quiet wiped out, also when the clock is then put back before its end', async () => {
      walk += 1;
      const noon = Date.parse('2026-11-20T12:00:30.000Z');
      const request = requestOf(0, 0, limits(1, 10_000));
      const verdicts = [];
      for (let at = noon; at < noon + 10_000; at += 1_000) verdicts.push(await anyStore(0).take(request, at));
      expect(verdicts.filter(({ banBegins }) => banBegins)).toHaveLength(1);
      const later = noon + 2 * DAY_MS;
      await anyStore(0).take(request, later);
      expect((await anyStore(0).take(request, later)).admitted, 'refused by the minute').toBe(false);
      expect((await anyStore(0).take(request, noon - DAY_MS)).bannedUntil).toBeUndefined();
    });

    it('serves throttler’s own guard through increment()', async () => {
      walk += 1;
      const hit = () => anyStore(0).increment(`stock-${walk}`, 60_000, 2, 0, 'default');
      expect(await hit()).toMatchObject({ totalHits: 1, isBlocked: false });
      expect(await hit()).toMatchObject({ totalHits: 2, isBlocked: false });
      expect(await hit()).toMatchObject({ totalHits: 2, isBlocked: true });
    });
  });
}
