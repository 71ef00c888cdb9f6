// A store and their own service for a benchmark: built, in a temporary folder, with one client that no quota stops.
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

/** Makes a database with the given number of animals, and one client with a key. */
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
  /** A key of a client with these limits. */
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
 * Starts the service on a store; returns its address, how long it took to its first response, and how to stop it. Its log is written to
 * `logFile`, or else read by this process, which takes some of the processor's time.
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

/** The address that the service says it listens on. */
function listening(child, logFile) {
  return new Promise((resolve, reject) => {
    const findReady = (text) => {
      const [, address] = /Listening on (http:\/\/[\w.:]+)/.exec(text) ?? [];
      if (address) resolve(address);
      return address !== undefined;
    };
    child.once('exit', (code) => reject(new Error(`The service ended with ${code} before it listened.`)));
    child.stdout?.on('data', (chunk) => findReady(chunk.toString()));
    if (logFile === undefined) return;
    const timer = setInterval(() => findReady(readFileSync(logFile, 'utf8')) && clearInterval(timer), 5);
    child.once('exit', () => clearInterval(timer));
  });
}

/** The value in the middle. */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
