// Twice the load that the service can carry: `npm run bench -- --only overload`. In one run: the most that is answered to 64
// connections, then twice that rate from clients that do not wait for one another, with and without the bounds.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const PEAK_CONNECTIONS = 64;
const CONNECTIONS = 2_000;
const NO_BOUNDS = { MAX_REQUESTS_IN_FLIGHT: '0', MAX_EVENT_LOOP_LAG_MS: '0' };

/** Requests that differ in what they cost. */
function kinds(key) {
  const head = (line) => `${line} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n`;
  const get = (target) => `${head(`GET ${target}`)}\r\n`;
  const body = '{"name":"Rex","categoryId":1}';
  return {
    'list, cached': ['available', 'pending', 'sold'].map((status) =>
      get(`/v1/pets?limit=20&status=${status}`),
    ),
    'list, read anew': Array.from({ length: 5_000 }, (_, index) => get(`/v1/pets?limit=20&asked=${index}`)),
    'list of 100, read anew': Array.from({ length: 5_000 }, (_, index) =>
      get(`/v1/pets?limit=100&asked=${index}`),
    ),
    'POST, durable': [
      `${head('POST /v1/pets')}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ],
  };
}

/** Measures all kinds on a store; answers one row for each. */
export async function overload(store, seconds) {
  const rows = [];
  for (const [name, requests] of Object.entries(kinds(store.key))) {
    const row = { name };
    for (const [kind, environment] of [
      ['bounded', {}],
      ['unbounded', NO_BOUNDS],
    ]) {
      const { url, stop } = await startService(store, { ...environment, LOG_LEVEL: 'info' });
      await run({ url, requests, connections: PEAK_CONNECTIONS, seconds: 2 });
      const peak = await run({ url, requests, connections: PEAK_CONNECTIONS, seconds });
      const twice = await run({
        url,
        requests,
        connections: CONNECTIONS,
        seconds: 2 * seconds,
        rate: 2 * peak.good,
      });
      row[kind] = { peak, twice, ratio: twice.good / peak.good };
      await stop();
    }
    rows.push(row);
    console.log(lines(row));
  }
  return rows;
}

async function run(asked) {
  const generator = fork(join(HERE, 'open-loop.mjs'));
  generator.send(asked);
  const [result] = await once(generator, 'message');
  return result;
}

function lines({ name, ...kindsOf }) {
  const shown = Object.entries(kindsOf).map(([kind, { peak, twice, ratio }]) => {
    const n = Math.round;
    return (
      `  ${kind}: peak ${n(peak.good)}/s (p99 ${n(peak.p99)} ms); offered ${n(twice.offered)}/s: ` +
      `in time ${n(twice.good)}/s, ${ratio.toFixed(2)} × the peak (p50 ${n(twice.p50)} ms, p99 ${n(twice.p99)} ms), ` +
      `late ${n(twice.late)}/s, 503 ${n(twice.shed)}/s (p99 ${n(twice.shedP99)} ms), given up ${n(twice.givenUp)}/s, other ${n(twice.other)}/s`
    );
  });
  return [name, ...shown].join('\n');
}
