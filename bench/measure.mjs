// Compares servers: each scenario runs on the servers in turn, in several rounds. A ratio is the median of the ratios of all rounds, because
// the speed of a machine changes from one minute to the next.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { load } from './load.mjs';
import { median } from './running-service.mjs';

/** Starts a peer in a separate process. */
export function peer(file, environment = {}) {
  return new Promise((resolve, reject) => {
    const child = fork(file, {
      env: { ...process.env, NODE_ENV: 'production', ...environment },
      // Reading log lines would cost this process more than writing them costs the peer.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.once('message', ({ port }) =>
      resolve({
        url: `http://127.0.0.1:${port}`,
        pid: child.pid,
        stop: async () => {
          const exited = once(child, 'exit');
          child.kill();
          await exited;
        },
      }),
    );
    child.once('exit', (code) => reject(new Error(`${file} exited with ${code}`)));
  });
}

/** The results of a scenario as text, with one line for each server and each ratio. */
export function line({ name, measured, ratios }) {
  const shown = Object.entries(measured).map(
    ([server, { perSecond, p99, cpuMicros }]) =>
      `${server} ${Math.round(perSecond)}/s (p99 ${p99} ms, CPU ${Math.round(cpuMicros)} µs per request)`,
  );
  const ratioLines = ratios.map(
    ({ server, of, ratio, cpu, p99, goal }) =>
      `${server}: ${ratio.toFixed(2)} × ${of}${goal ? ` (goal ${goal})` : ''}, ` +
      `${cpu.toFixed(2)} × by CPU time, p99 ${p99.toFixed(2)} ×`,
  );
  return `${name}\n  ${shown.join('\n  ')}\n  → ${ratioLines.join('\n  → ')}`;
}

/** Sends requests until Node.js has compiled the hot code: 10,000 requests, or as many as fit into 10 s. */
async function warmUp(url, requests) {
  const [wanted, most] = [10_000, 10];
  for (let sent = 0, seconds = 0; sent < wanted && seconds < most; seconds += 1)
    sent += (await load(url, requests, 1)).perSecond;
}

/**
 * Loads the servers of a scenario in turn, in several rounds of the given number of seconds. Returns the medians and their ratios. Checks some
 * responses before and after each run, so that a server cannot look fast by returning errors.
 */
export async function measure(servers, { name, requests, status, body, ratios }, { seconds, rounds }) {
  const runs = {};
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, because the first server in a round may have an advantage.
    for (const [server, requestsOfServer] of inTurn(Object.entries(requests), round)) {
      const { url, pid } = servers[server];
      const checks = {
        status: status[server] ?? status,
        body: body?.[server] ?? (typeof body === 'function' ? body : undefined),
      };
      const sent = await Promise.all(requestsOfServer.map((request) => prepared(url, request)));
      await check(url, sent, checks, server);
      if (round === 0) await warmUp(url, sent);
      const before = processorMicros(pid);
      const run = await load(url, sent, seconds);
      run.cpuMicros = (processorMicros(pid) - before) / (run.perSecond * seconds);
      const mayRefuse = [checks.status].flat().every((code) => code >= 400);
      if (run.refused > 0 && !mayRefuse)
        throw new Error(`${server} refused ${run.refused} requests of ${name}`);
      (runs[server] ??= []).push(run);
      await check(url, sent, checks, server);
    }
  }
  const measured = Object.fromEntries(
    Object.entries(runs).map(([server, results]) => [
      server,
      {
        perSecond: median(results.map((one) => one.perSecond)),
        p99: median(results.map((one) => one.p99)),
        cpuMicros: median(results.map((one) => one.cpuMicros)),
      },
    ]),
  );
  return {
    name,
    measured,
    ratios: ratios.map(({ server, of, goal }) => ({
      server,
      of,
      ...(goal === undefined ? {} : { goal }),
      ...ratiosOf(runs[server], runs[of]),
    })),
  };
}

/** The servers in the order for this round, which is reversed in every other round. */
export function inTurn(servers, round) {
  return round % 2 === 0 ? servers : servers.toReversed();
}

/** Medians of the ratios of one server's figures to another's in each round. `cpu` is inverted: above 1, the first server uses less CPU time. */
export function ratiosOf(runs, others) {
  const times = (figure) => median(runs.map((run, round) => run[figure] / others[round][figure]));
  return { ratio: times('perSecond'), cpu: 1 / times('cpuMicros'), p99: times('p99') };
}

/** CPU time used by a process, in µs; NaN on systems without /proc. It varies less than requests per second. */
export function processorMicros(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const MICROS_PER_TICK = 10_000;
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}

/** Adds the current ETag to a request that revalidates a response. */
async function prepared(url, { revalidate, ...request }) {
  if (revalidate === undefined) return request;
  const response = await fetch(url + revalidate, { headers: request.headers });
  await response.text();
  return { ...request, headers: { ...request.headers, 'if-none-match': response.headers.get('etag') } };
}

/** Throws if the status or the body of a sample of responses is unexpected. */
async function check(url, requests, { status, body }, server) {
  for (let sample = 0; sample < 5; sample += 1) {
    const { path, ...request } = requests[Math.floor(Math.random() * requests.length)];
    const response = await fetch(url + path, request);
    const text = await response.text();
    const right = [status].flat().includes(response.status) && (body === undefined || body(text));
    if (!right)
      throw new Error(
        `${server} returned ${response.status} for ${request.method} ${path}: ${text.slice(0, 300)}`,
      );
  }
}
