// Sends requests to a server repeatedly, in order. Uses wrk if it is installed, and otherwise autocannon, which uses so much CPU time that it
// slows down fast servers.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ADD, NUMBER, firstNumber } from './random-load.mjs';

const CONNECTIONS = 32;
const MS = { us: 0.001, ms: 1, s: 1_000 };

/** The name and version of the load generator. */
export const LOADER = versionOfWrk() ?? 'autocannon';

/** Returns requests per second, the 99th percentile of the latency in ms, and the number of responses other than 2xx and 3xx. */
export async function load(url, requests, seconds) {
  return LOADER === 'autocannon' ? byAutocannon(url, requests, seconds) : byWrk(url, requests, seconds);
}

function versionOfWrk() {
  try {
    return execFileSync('sh', ['-c', 'wrk -v 2>&1 || true'], { encoding: 'utf8' }).match(/wrk \S+/)?.[0];
  } catch {
    return undefined;
  }
}

async function byWrk(url, requests, seconds) {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-load-'));
  try {
    const script = join(folder, 'requests.lua');
    writeFileSync(script, lua(requests));
    const { stdout } = await promisify(execFile)('wrk', [
      '--threads=1',
      `--connections=${CONNECTIONS}`,
      `--duration=${seconds}s`,
      '--latency',
      `--script=${script}`,
      url,
    ]);
    const broken = /Socket errors: (.*)/.exec(stdout)?.[1];
    if (broken) throw new Error(`${url}: ${broken}`);
    const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout);
    return {
      perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)[1]),
      p99: Number(value) * MS[unit],
      refused: Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A script for wrk that sends the requests in turn, and replaces NUMBER with a number that has not been used before. */
function lua(requests) {
  const text = (value) => (value === undefined ? 'nil' : JSON.stringify(value));
  const calls = requests.map(({ method, path, headers, body }) => {
    const pairs = Object.entries(headers).map(([name, value]) => `[${text(name)}]=${text(value)}`);
    return `add(wrk.format(${text(method)}, ${text(path)}, {${pairs.join(', ')}}, ${text(body)}))`;
  });
  // A Lua function can have at most 65,536 constants.
  const parts = [];
  for (let at = 0; at < calls.length; at += 1_000)
    parts.push(`(function()\n${calls.slice(at, at + 1_000).join('\n')}\nend)()`);
  return `${ADD}
    local turn, number = 0, ${firstNumber()}
    function init() ${parts.join(';')} end
    function request()
      turn = turn % #heads + 1
      if not tails[turn] then return heads[turn] end
      number = number + 1
      return heads[turn] .. string.format('%d', number) .. tails[turn]
    end`;
}

async function byAutocannon(url, requests, seconds) {
  const { default: autocannon } = await import('autocannon');
  let number = firstNumber();
  const numbered = requests.map((request) =>
    request.path.includes(NUMBER)
      ? {
          ...request,
          setupRequest: (one) => ({ ...one, path: request.path.replace(NUMBER, String((number += 1))) }),
        }
      : request,
  );
  const run = await autocannon({ url, connections: CONNECTIONS, duration: seconds, requests: numbered });
  if (run.errors > 0 || run.timeouts > 0) throw new Error(`${url}: ${run.errors} errors`);
  return { perSecond: run.requests.total / run.duration, p99: run.latency.p99, refused: run.non2xx };
}
