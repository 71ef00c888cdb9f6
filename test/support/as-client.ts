import { issueKey } from '../kit/issued-key.js';
import type { TestService, TestServiceOptions } from '../kit/test-service.js';
import { openForAll, openForTest } from './opened.js';

/**
 * Runs tests of a shared service as a new client: `request()` sends a key of that client. A suite whose tests differ only in their client
 * needs to start only one service. Closing it closes the shared service.
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
 * For all tests in a file: opens a new client of a shared service, whose clock is reset to the same instant, or a separate service if the
 * test requires a different environment.
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

/**
 * Sets the clock of a service as if the service had just started at this instant: setting it back by less than a minute would continue the
 * current window.
 */
export async function startAt(service: TestService, at: string): Promise<void> {
  service.clock.advance(3 * 86_400_000);
  await service.request('GET', '/v1/pets?limit=1');
  service.clock.set(at);
}
