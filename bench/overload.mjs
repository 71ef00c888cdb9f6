// Offers twice the load that the service can handle: `npm run bench -- --only overload`. Each run measures the peak throughput with 64
// connections, and then offers twice that rate over 2,000 connections, with and without overload limits. If no request is refused, the loss is
// due to the cost of 2,000 busy connections, so the run also measures those in a closed loop. Node's own HTTP server serves as the baseline.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NUMBER } from './random-load.mjs';
import { startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const PEAK_CONNECTIONS = 64;
const CONNECTIONS = 2_000;
const IDLE_CONNECTIONS = 5_000;
/** After this many requests, Node.js has compiled the hot code, and the peak no longer rises. */
const WARM_UP_REQUESTS = 10_000;

/**
 * Node's own HTTP server; the service with default settings, alone and with additional clients that keep idle connections open; and the service
 * without overload limits.
 */
const SETTINGS = {
  'bare Node': { peer: 'bare-node.mjs', only: 'list, cached' },
  bounded: {},
  'bounded, idle beside': { idle: IDLE_CONNECTIONS },
  unbounded: { environment: { MAX_REQUESTS_IN_FLIGHT: '0', MAX_EVENT_LOOP_LAG_MS: '0' } },
};

/** Kinds of requests, which differ in cost. */
function kinds(key) {
  const head = (line) => `${line} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n`;
  const get = (target) => `${head(`GET ${target}`)}\r\n`;
  const body = '{"name":"Rex","categoryId":1}';
  return {
    'list, cached': ['available', 'pending', 'sold'].map((status) =>
      get(`/v1/pets?limit=20&status=${status}`),
    ),
    // Each URL is requested only once, so that no response comes from a cache.
    'list, uncached': [get(`/v1/pets?limit=20&asked=${NUMBER}`)],
    'list of 100, uncached': [get(`/v1/pets?limit=100&asked=${NUMBER}`)],
    'POST, durable': [
      `${head('POST /v1/pets')}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ],
  };
}

/** Measures all kinds of requests in `rounds` rounds. Returns one row per kind, with the round that has the median ratio. */
export async function overload(store, seconds, rounds) {
  const rows = [];
  for (const [name, requests] of Object.entries(kinds(store.key))) {
    const row = { name };
    for (const [setting, how] of Object.entries(SETTINGS)) {
      if (how.only !== undefined && how.only !== name) continue;
      const measured = [];
      for (let round = 0; round < rounds; round += 1)
        measured.push(await measuredOnce(store, requests, seconds, how));
      row[setting] = measured.toSorted((a, b) => a.ratio - b.ratio)[Math.floor(rounds / 2)];
    }
    rows.push(row);
    console.log(lines(row));
  }
  return rows;
}

/** Starts a server, and measures its peak throughput and its throughput at twice that rate. */
async function measuredOnce(store, requests, seconds, { environment, idle = 0, peer }) {
  const { url, stop } =
    peer === undefined
      ? await startService(store, { ...environment, LOG_LEVEL: 'info' })
      : await startPeer(peer);
  const idleClients = fork(join(HERE, 'open-loop.mjs'));
  await result(idleClients, { url, requests, connections: idle, requestsToSend: idle, stays: true });
  const peaks = { url, requests, connections: PEAK_CONNECTIONS };
  await run({ ...peaks, requestsToSend: WARM_UP_REQUESTS });
  const peak = await run({ ...peaks, seconds });
  const twice = await run({
    url,
    requests,
    connections: CONNECTIONS,
    seconds: 2 * seconds,
    rate: 2 * peak.good,
  });
  const many = twice.shed > 0 ? undefined : await run({ ...peaks, connections: CONNECTIONS, seconds });
  idleClients.kill();
  await stop();
  return { peak, twice, ratio: twice.good / peak.good, ...(many ? { many } : {}) };
}

async function startPeer(name) {
  const child = fork(join(HERE, 'peers', name));
  const [{ url }] = await once(child, 'message');
  return { url, stop: () => child.kill() };
}

async function run(options) {
  return result(fork(join(HERE, 'open-loop.mjs')), options);
}

async function result(generator, options) {
  generator.send(options);
  const [measured] = await once(generator, 'message');
  return measured;
}

function lines({ name, ...kindsOf }) {
  const shown = Object.entries(kindsOf).map(([kind, { peak, many, twice, ratio }]) => {
    const n = Math.round;
    return (
      `  ${kind}: peak ${n(peak.good)}/s (p99 ${n(peak.p99)} ms); offered ${n(twice.offered)}/s: ` +
      `in time ${n(twice.good)}/s, ${ratio.toFixed(2)} × the peak (p50 ${n(twice.p50)} ms, p99 ${n(twice.p99)} ms), ` +
      `late ${n(twice.late)}/s, 503 ${n(twice.shed)}/s (p99 ${n(twice.shedP99)} ms), no idle client ${n(twice.unsent)}/s, other ${n(twice.other)}/s` +
      (many
        ? `; 2,000 connections in a closed loop ${n(many.good)}/s, ${(twice.good / many.good).toFixed(2)} × that`
        : '')
    );
  });
  return [name, ...shown].join('\n');
}
