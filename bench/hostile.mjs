// Measures the effect of attacks on an innocent client: `npm run bench:hostile`. For each flood, it records the descriptors and memory of the
// service, and the latency of an innocent client's requests, before, during and after the flood. Floods are bounded in count and duration, and
// stay on this machine. docs/security.md summarizes the results.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { FLOODS } from './floods.mjs';
import { makeStore, startService } from './running-service.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
/** Number of the innocent client's requests before and after a flood, and the minimum number during it. */
const REQUESTS = 500;
/** Pause between the end of a flood and the last measurement, in milliseconds. */
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

/** Sends at least REQUESTS requests one after another, until `isOver` returns true. Returns their latency, in milliseconds. */
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

/** The descriptors and memory that the service uses. */
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
