import type { Answer, Store } from './store.js';

/** Strikes that bring a ban. */
const STRIKES = 20;

/** Sends requests without waiting for anything, and answers the last. */
export async function hammer(store: Store, times: number, key?: string): Promise<Answer> {
  const options = key === undefined ? {} : { key };
  for (let sent = 1; sent < times; sent += 1) await store.request('GET', '/v1/pets?limit=1', options);
  return store.request('GET', '/v1/pets?limit=1', options);
}

/** Sends one request a second, so that each that is refused is a strike, and answers the last. */
export async function goOn(store: Store, strikes: number, key?: string): Promise<Answer> {
  for (let sent = 1; sent < strikes; sent += 1) {
    await hammer(store, 1, key);
    store.clock.advance(1_000);
  }
  return hammer(store, 1, key);
}

/**
 * Uses up the minute of a client on the free plan, lets the forgiven two seconds pass, and goes on until the ban, which
 * begins 21 seconds later. Answers the first refusal of the ban.
 */
export async function earnBan(store: Store, key?: string): Promise<Answer> {
  await hammer(store, 61, key);
  store.clock.advance(2_000);
  return goOn(store, STRIKES, key);
}
