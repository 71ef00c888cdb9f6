import { afterAll, onTestFinished } from 'vitest';
import { Settings } from '../../src/core/config/settings.js';
import { TestService, type TestServiceOptions } from '../kit/test-service.js';

/** Options of a service with a client whose quota is practically unlimited. */
export const UNLIMITED = {
  plan: 'enterprise',
  limits: { perMinute: 1_000_000, perDay: 1_000_000 },
} as const;

/** A service for all tests of a file or a describe(), closed after the last of them. */
export async function openForAll(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await TestService.open(options);
  afterAll(() => service.close());
  return service;
}

/** A service for the current test, closed at its end, even if the test fails. */
export async function openForTest(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await TestService.open(options);
  onTestFinished(() => service.close());
  return service;
}

/** The setting that lets another service use the database of this one, which must not be in memory. */
export const databaseOf = ({ app }: TestService): { readonly DATABASE_URL: string } => ({
  DATABASE_URL: app.get(Settings).databaseUrl,
});
