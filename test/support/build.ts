import { buildIfStale } from '../../scripts/build-if-stale.mjs';

/**
 * Runs once before all suites, because some start the service and its command line as processes from dist/. To save time when running only
 * other suites, set PETSTORE_TEST_BUILD=off.
 */
export default function setup(): void {
  if (process.env.PETSTORE_TEST_BUILD !== 'off') buildIfStale();
}
