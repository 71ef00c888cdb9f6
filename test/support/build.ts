import { buildIfStale } from '../../scripts/build-if-stale.mjs';

/**
 * Run once before all suites: some start the service and its command line as processes, from dist/. Whoever runs others alone saves the
 * time by PETSTORE_TEST_BUILD=off.
 */
export default function setup(): void {
  if (process.env.PETSTORE_TEST_BUILD !== 'off') buildIfStale();
}
