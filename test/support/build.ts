import { buildIfStale } from '../../scripts/build-if-stale.mjs';

/** Run once before all suites: some start the service and its command line as processes, from dist/. */
export default function setup(): void {
  buildIfStale();
}
