// How servers are measured alongside each other: each scenario on every server in turn, in several rounds. A ratio is the median of the ratios
// within the rounds, because the speed of a machine changes from one minute to the next.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { load } from './load.mjs';
import { median } from './running-service.mjs';

/** Starts one of the peers in its own process. */
export function peer(file, environment = {}) {
  return new Promise((resolve, reject) => {
    const child = fork(file, {
      env: { ...process.env, NODE_ENV: 'production', ...environment },
      // Log lines would cost the reader more than the service.
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
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
}

/** One line for each server and scenario. */
export function line({ name, measured, ratios }) {
  const shown = Object.entries(measured).map(
    ([server, { perSecond, p99, cpuMicros }]) =>
      `${server} ${Math.round(perSecond)}/s (p99 ${p99} ms, processor ${Math.round(cpuMicros)} µs a request)`,
  );
  const ratioLines = ratios.map(
    ({ server, of, ratio, cpu, p99, goal }) =>
      `${server}: ${ratio.toFixed(2)} × ${of}${goal ? ` (goal ${goal})` : ''}, ` +
      `${cpu.toFixed(2)} × by processor time, p99 ${p99.toFixed(2)} ×`,
  );
  return `${name}\n  ${shown.join('\n  ')}\n  → ${ratioLines.join('\n  → ')}`;
}

/** Node compiles what has run often: the given number of requests, however fast the machine is at the moment; at most for the given number of seconds. */
async function warmUp(url, requests) {
  const [wanted, most] = [10_000, 10];
  for (let sent = 0, seconds = 0; sent < wanted && seconds < most; seconds += 1)
    sent += (await load(url, requests, 1)).perSecond;
}

/**
 * Loads the servers of a scenario in turn, in several rounds of the given number of seconds; returns the medians and their ratios. Nobody
 * wins with errors: a sample is checked before and after.
 */
export async function measure(servers, { name, requests, status, body, ratios }, { seconds, rounds }) {
  const runs = {};
  for (let round = 0; round < rounds; round += 1) {
    // Whoever goes first in a round has the warmer machine.
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
      if (run.refused > 0 && !mayRefuse) throw new Error(`${server} refused ${run.refused} of ${name}`);
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

/** The servers in the order of this round: every other one is the other way round. */
export function inTurn(servers, round) {
  return round % 2 === 0 ? servers : servers.toReversed();
}

/** How many times another server's figures those of one are, round by round; `cpu` is how many times less processor time it takes. */
export function ratiosOf(runs, others) {
  const times = (figure) => median(runs.map((run, round) => run[figure] / others[round][figure]));
  return { ratio: times('perSecond'), cpu: 1 / times('cpuMicros'), p99: times('p99') };
}

/** Processor time that a process has used, in µs, where /proc tells it. It varies less than requests per second. */
export function processorMicros(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const MICROS_PER_TICK = 10_000;
  return (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK;
}

/** A request with the ETag that it revalidates, if it does. */
async function prepared(url, { revalidate, ...request }) {
  if (revalidate === undefined) return request;
  const response = await fetch(url + revalidate, { headers: request.headers });
  await response.text();
  return { ...request, headers: { ...request.headers, 'if-none-match': response.headers.get('etag') } };
}

/** Nobody wins with errors: status and body of a sample, before and after. */
async function check(url, requests, { status, body }, server) {
  for (let sample = 0; sample < 5; sample += 1) {
    const { path, ...request } = requests[Math.floor(Math.random() * requests.length)];
    const response = await fetch(url + path, request);
    const text = await response.text();
    const right = [status].flat().includes(response.status) && (body === undefined || body(text));
    if (!right)
      throw new Error(
        `${server} answered ${request.method} ${path} with ${response.status}: ${text.slice(0, 300)}`,
      );
  }
}
