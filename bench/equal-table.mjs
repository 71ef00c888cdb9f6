// Writes the results of `npm run bench -- --only equal` to a table in docs/performance.md.
import { aligned, replaceTable } from './doc-table.mjs';

/** The maximum ratio of the service's 99th percentile to the peer's. */
export const P99_GOAL = 1.5;

/** Replaces the table and the sentence that describes the measurement. */
export function writeTable(result) {
  replaceTable('performance.md', 'equal work', `${setup(result)}\n\n${table(result.rows)}`);
}

function setup({ node, loader, rounds, seconds, loadAverage }) {
  const [before, after] = [loadAverage.before, loadAverage.after].map((value) => value.toFixed(1));
  return (
    `Node ${node}, ${loader}, two cores, ${rounds} rounds of ${seconds} s; load average of the machine ${before} before the run and ` +
    `${after} after it.`
  );
}

function table(rows) {
  const head = [
    'Scenario',
    'Service',
    'Fastify, equal work',
    'Express, bare',
    '× Fastify (goal)',
    'by CPU time (at least 0.85)',
    `p99 × Fastify (at most ${P99_GOAL})`,
    '× Express (goal)',
  ];
  const lines = rows.map(({ name, measured, ratios }) => {
    const [fastify, express] = ['fastify-equal', 'express'].map((of) => ratios.find((one) => one.of === of));
    return [
      name,
      figures(measured.service),
      figures(measured['fastify-equal']),
      figures(measured.express),
      ratio(fastify),
      fastify.cpu.toFixed(2),
      fastify.p99.toFixed(2),
      ratio(express),
    ];
  });
  return aligned([head, ...lines]);
}

function figures(measured) {
  if (measured === undefined) return '';
  const [p50, p99] = [measured.p50, measured.p99].map((ms) => (ms < 10 ? ms.toFixed(1) : ms.toFixed(0)));
  return `${Math.round(measured.perSecond).toLocaleString('en')} (${p50}, ${p99})`;
}

function ratio(one) {
  if (one === undefined) return '';
  return one.ratio.toFixed(2) + (one.goal === undefined ? '' : ` (${one.goal})`);
}
