import { type TestResponse, type TestService } from '../kit/test-service.js';

/** Number of strikes that lead to a ban. */
const STRIKES = 20;

/** Sends requests without waiting between them. Returns the last response. */
export async function hammer(service: TestService, times: number, key?: string): Promise<TestResponse> {
  const options = key === undefined ? {} : { key };
  for (let sent = 1; sent < times; sent += 1) await service.request('GET', '/v1/pets?limit=1', options);
  return service.request('GET', '/v1/pets?limit=1', options);
}

/** Sends one request per second, so that each refusal is a strike. Returns the last response. */
export async function goOn(service: TestService, strikes: number, key?: string): Promise<TestResponse> {
  for (let sent = 1; sent < strikes; sent += 1) {
    await hammer(service, 1, key);
    service.clock.advance(1_000);
  }
  return hammer(service, 1, key);
}

/**
 * Uses up the minute of a client on the free plan, lets the two-second grace period pass, and continues until the ban, which begins 21
 * seconds later. Returns the first response that reports the ban.
 */
export async function earnBan(service: TestService, key?: string): Promise<TestResponse> {
  await hammer(service, 61, key);
  service.clock.advance(2_000);
  return goOn(service, STRIKES, key);
}
