// A vitest reporter that appends the duration of each suite, including imports and hooks, to the file named by PETSTORE_TEST_SECONDS. The
// JSON report contains only the duration of the tests.
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
