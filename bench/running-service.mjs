// A database and a service for a benchmark, in a temporary folder, with one client whose quota is practically unlimited.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildIfStale } from '../scripts/build-if-stale.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const START_LIMIT_MS = 30_000;
const ENVIRONMENT = { PATH: process.env.PATH, NODE_ENV: 'production', PORT: '0', MANAGEMENT_PORT: '0' };

/** Creates an SQLite database with the given number of animals, and one client with a key. Builds the service first if necessary. */
export async function makeStore(animals) {
  buildIfStale();
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  const petstore = async (...args) => {
    const command = [join(ROOT, 'bin/petstore.js'), ...args, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      cwd: folder,
      env: ENVIRONMENT,
    });
    return JSON.parse(stdout);
  };
  /** Creates a client with these limits and returns a key for it. */
  const issueKey = async (perMinute, perDay) => {
    const limits = ['--per-minute', String(perMinute), '--per-day', String(perDay)];
    const { id } = await petstore('client', 'create', '--name', 'Bench', '--plan', 'enterprise', ...limits);
    return (await petstore('key', 'issue', '--client', id)).key;
  };
  await petstore('db', 'seed', '--count', String(animals), '--yes');
  const key = await issueKey(1_000_000_000, 1_000_000_000);
  return {
    folder,
    file: join(folder, 'data/petstore.sqlite'),
    key,
    issueKey,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * Starts the service on a store. Returns its URL, the time until its first response, and a function that stops it. The log is written to
 * `logFile`; without one, this process reads it, which uses some CPU time.
 */
export async function startService({ folder }, environment = {}, logFile) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [join(ROOT, 'dist/bundle/main.js')], {
    cwd: folder,
    env: { ...ENVIRONMENT, ...environment },
    stdio: ['ignore', logFile === undefined ? 'pipe' : openSync(logFile, 'w'), 'inherit'],
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS);
  const url = await listening(child, logFile);
  clearTimeout(limit);
  await (await fetch(`${url}/health/ready`)).text();
  const startMs = performance.now() - startedAt;
  const stop = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  };
  return { url, pid: child.pid, startMs, stop };
}

/** The URL in the log line with which the service reports that it is listening. */
function listening(child, logFile) {
  return new Promise((resolve, reject) => {
    const findReady = (text) => {
      const [, address] = /Listening on (http:\/\/[\w.:]+)/.exec(text) ?? [];
      if (address) resolve(address);
      return address !== undefined;
    };
    child.once('exit', (code) =>
      reject(new Error(`The service exited with ${code} before it was listening.`)),
    );
    child.stdout?.on('data', (chunk) => findReady(chunk.toString()));
    if (logFile === undefined) return;
    const timer = setInterval(() => findReady(readFileSync(logFile, 'utf8')) && clearInterval(timer), 5);
    child.once('exit', () => clearInterval(timer));
  });
}

/** The median (of an even number of values, the upper of the two in the middle). */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
