import { issueKey } from '../kit/issued-key.js';
import type { TestService, TestServiceOptions } from '../kit/test-service.js';
import { openForAll, openForTest } from './opened.js';

/**
 * A running service as a new client of it has it: `request()` sends a key of that client. A suite whose tests differ in their client
 * alone starts one service. Closing it closes the service for all.
 */
export async function asClient(
  service: TestService,
  options: Pick<TestServiceOptions, 'plan' | 'limits' | 'scopes'> = {},
): Promise<TestService> {
  const { clientId, key } = await issueKey(service.app, options);
  return Object.create(service, {
    clientId: { value: clientId },
    key: { value: key },
  }) as TestService;
}

/**
 * For all tests of a file: opens a new client of the service that they share, which starts again at the same instant, or of one of the
 * test's own where its environment is another.
 */
export async function openClients(
  overrides: TestServiceOptions = {},
): Promise<(options?: TestServiceOptions) => Promise<TestService>> {
  const shared = await openForAll();
  return async (options = {}) => {
    if (options.environment !== undefined) return openForTest({ ...overrides, ...options });
    await startAt(shared, options.at ?? '2026-11-20T12:00:10.250Z');
    return asClient(shared, { ...overrides, ...options });
  };
}

/** Sets the clock of a service to an instant as if it had just started there: a step back of less than a minute would keep its window. */
export async function startAt(service: TestService, at: string): Promise<void> {
  service.clock.advance(3 * 86_400_000);
  await service.request('GET', '/v1/pets?limit=1');
  service.clock.set(at);
}
