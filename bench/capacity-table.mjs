// Writes the table for one instance on one core to docs/scale.md. `npm run bench` calls it; `node bench/capacity-table.mjs` rewrites the table
// from bench/results.json.
import { readFileSync } from 'node:fs';
import { aligned, replaceTable } from './doc-table.mjs';

/** Replaces the table and the sentence that describes the measurement. */
export function writeCapacity({ node, loader, rounds, seconds, rows, memory }) {
  const head = [
    'Request',
    'Requests/s, SQLite',
    'With Redis',
    '99th percentile, ms',
    'CPU time per request, µs',
  ];
  const lines = rows
    .filter(({ measured }) => measured.service)
    .map(({ name, measured }) => {
      const { service, 'service with Redis': withRedis } = measured;
      return [
        name,
        whole(service.perSecond),
        whole(withRedis?.perSecond),
        service.p99.toFixed(1),
        whole(service.cpuMicros),
      ];
    });
  const how =
    `Node ${node}, ${loader} with 32 connections, medians of ${rounds} rounds of ${seconds} s. Resident memory: ${memory.few.mib} MiB after ` +
    `${whole(memory.few.requests)} requests, ${memory.many.mib} MiB after ${whole(memory.many.requests)} requests from ` +
    `${whole(memory.clients)} clients.`;
  replaceTable('scale.md', 'one core', `${how}\n\n${aligned([head, ...lines])}`);
}

function whole(number) {
  return number === undefined ? '' : Math.round(number).toLocaleString('en');
}

if (process.argv[1] === new URL(import.meta.url).pathname)
  writeCapacity(JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8')));
