// What an innocent client notices while others attack: `npm run bench:hostile`. For every flood: descriptors and memory of the
// service before and after, and how long the requests of an innocent client took before, during and after it. Every flood is
// bounded in count and time, and stays on this machine. docs/security.md has the summary.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { FLOODS } from './floods.mjs';
import { makeStore, startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
/** Requests of the innocent client when nobody attacks, and at least when somebody does. */
const REQUESTS = 500;
/** How long after a flood it is looked at what is left, in milliseconds. */
const AFTERWARDS_MS = 3_000;

const store = await makeStore(1_000);
const service = await startService(store);
const rows = [];
await asInnocent(() => true);
for (const flood of Object.keys(FLOODS)) {
  const before = held();
  const quiet = await asInnocent(() => true);
  const attacker = fork(join(HERE, 'floods.mjs'), [flood, service.url, store.key]);
  await once(attacker, 'message');
  const during = await asInnocent(() => attacker.exitCode !== null);
  const peak = held();
  if (attacker.exitCode === null) await once(attacker, 'exit');
  await pause(AFTERWARDS_MS);
  const after = await asInnocent(() => true);
  const left = held();
  const row = { flood, before, peak, left, quiet, during, after };
  rows.push(row);
  console.log(line(row));
}
await service.stop();
store.remove();
writeFileSync(
  join(HERE, 'hostile-results.json'),
  `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`,
);

/** Sends one request after the other, REQUESTS at least, until it is stopped; returns how long they took, in ms. */
async function asInnocent(isOver) {
  const times = [];
  let refused = 0;
  while (times.length < REQUESTS || !isOver()) {
    const startedAt = performance.now();
    const response = await fetch(`${service.url}/v1/pets?limit=20`, {
      headers: { authorization: `Bearer ${store.key}` },
    });
    await response.arrayBuffer();
    times.push(performance.now() - startedAt);
    if (response.status !== 200) refused += 1;
  }
  times.sort((a, b) => a - b);
  const at = (share) =>
    Number(times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1));
  return { requests: times.length, p50: at(0.5), p99: at(0.99), slowest: at(1), refused };
}

/** What the service holds. */
function held() {
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'));
  return {
    descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
    mib: Math.round(Number(kib) / 1024),
  };
}

/** A row of the table that a run prints. */
function line({ flood, before, peak, left, quiet, during, after }) {
  const cells = [
    flood,
    `${before.descriptors} → ${peak.descriptors} → ${left.descriptors}`,
    `${before.mib} → ${peak.mib} → ${left.mib}`,
    `${quiet.p99} → ${during.p99} → ${after.p99}`,
    during.slowest,
    quiet.refused + during.refused + after.refused,
  ];
  return `| ${cells.join(' | ')} |`;
}
