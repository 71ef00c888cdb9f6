// A reporter of vitest that writes the seconds of each suite, with its imports and hooks, to the file that PETSTORE_TEST_SECONDS names.
// The JSON report has the seconds of the tests alone.
import { appendFileSync } from 'node:fs';

export default class SuiteSeconds {
  onTestRunEnd(suites) {
    const lines = suites.map((suite) => {
      const { setupDuration, collectDuration, duration } = suite.diagnostic();
      const seconds = (setupDuration + collectDuration + duration) / 1_000;
      return `${seconds.toFixed(1).padStart(8)} s  ${suite.project.name} ${suite.relativeModuleId}\n`;
    });
    appendFileSync(process.env.PETSTORE_TEST_SECONDS, lines.join(''));
  }
}
