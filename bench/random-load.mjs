// Loads a server with wrk, which generates the requests while it runs: with numbers that are random or have not been used before, and with a
// mix of reads and writes. (bench/load.mjs repeats a fixed list of requests.) The same seed produces the same sequence of requests.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CONNECTIONS = 32;
/** Placeholder in a path for a number that differs between requests. */
export const NUMBER = '0NUMBER0';

/** The first of the numbers that have not been used before. It depends on the time, so earlier runs have not reached it. */
export function firstNumber() {
  return (Date.now() % 1e9) * 1_000;
}

/** Lua code for wrk: `add(request)` stores the parts of a request before and after NUMBER. */
export const ADD = `
    local heads, tails = {}, {}
    local function add(request)
      local from, to = request:find('${NUMBER}', 1, true)
      heads[#heads + 1] = from and request:sub(1, from - 1) or request
      tails[#heads] = from and request:sub(to + 1) or false
    end`;

/**
 * Sends requests for the given number of seconds: `write` with the probability `share`, and otherwise one of `reads` at random. NUMBER is
 * replaced with a random integer from 1 to `among`, or, without `among`, with a number that has not been used before. Returns the numbers of
 * requests and of failures (neither 2xx nor 3xx), requests per second, the median and the 99th percentile of the latency in ms, and the share
 * of one CPU core that wrk used.
 */
export async function loadAtRandom(url, plan, seconds, seed) {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-load-'));
  try {
    const script = join(folder, 'requests.lua');
    writeFileSync(script, lua(plan, seed));
    const args = ['--threads=1', `--connections=${CONNECTIONS}`, `--duration=${seconds}s`, '--timeout=10s'];
    const { stdout, stderr } = await promisify(execFile)('wrk', [...args, `--script=${script}`, url]);
    const [summary] = /^\{.*\}$/m.exec(stdout) ?? [];
    // If wrk cannot read the script, it runs without it.
    if (summary === undefined) throw new Error(`wrk did not run its script: ${stderr}`);
    const run = JSON.parse(summary);
    const broken = Object.entries(run.broken).filter(([, count]) => count > 0);
    if (broken.length > 0) throw new Error(`${url}: ${broken.join(', ')}`);
    return { ...run, perSecond: run.requests / run.seconds };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function lua({ reads = [], write, share = 0, among, headers }, seed) {
  const text = (value) => (value === undefined ? 'nil' : JSON.stringify(value));
  const table = (object) =>
    `{${Object.entries(object)
      .map(([name, value]) => `[${text(name)}]=${text(value)}`)
      .join(', ')}}`;
  const calls = reads.map((path) => `add(wrk.format('GET', ${text(path)}, headers))`);
  // A Lua function can have at most 65,536 constants.
  const parts = [];
  for (let at = 0; at < calls.length; at += 1_000)
    parts.push(`;(function()\n${calls.slice(at, at + 1_000).join('\n')}\nend)()`);
  const number = among === undefined ? 'sent' : `random(${among})`;
  return `${ADD}
    local headers, write, sent = ${table(headers)}, nil, ${firstNumber()}
    local random = math.random
    function init()
      math.randomseed(${seed})
      ${parts.join('\n')}
      ${write ? `write = wrk.format('POST', ${text(write.path)}, ${table({ ...headers, 'content-type': 'application/json' })}, ${text(write.body)})` : ''}
    end
    function request()
      if write and random() < ${share} then return write end
      sent = sent + 1
      local at = random(#heads)
      if not tails[at] then return heads[at] end
      return heads[at] .. string.format('%d', ${number}) .. tails[at]
    end
    function done(summary, latency)
      local e, s = summary.errors, summary.duration / 1e6
      io.write(string.format(
        '{"requests":%d,"failed":%d,"broken":{"connect":%d,"read":%d,"write":%d,"timeout":%d},"seconds":%.6f,"p50":%.3f,"p99":%.3f,"loader":%.3f}\\n',
        summary.requests, e.status, e.connect, e.read, e.write, e.timeout, s,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, os.clock() / s))
    end`;
}
