// A reporter of vitest that prints the suites which took longest, each with the seconds of its imports, hooks and tests. The JSON
// report has the seconds of the tests alone.
const MOST = 30;

export default class SlowestSuites {
  onTestRunEnd(suites) {
    const lines = suites
      .map((suite) => ({
        seconds: secondsOf(suite),
        name: `${suite.project.name} ${suite.relativeModuleId}`,
      }))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, MOST)
      .map(({ seconds, name }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`);
    console.log(`\nThe slowest suites:\n${lines.join('\n')}`);
  }
}

function secondsOf(suite) {
  const { setupDuration, collectDuration, duration } = suite.diagnostic();
  return (setupDuration + collectDuration + duration) / 1_000;
}
