// Measures the resident memory of the service after a million reads from 10,000 clients: `npm run bench -- --only memory`.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { generateApiKey } from '../dist/src/auth/api-key.format.js';
import { startService } from './running-service.mjs';

const CLIENTS = 10_000;
const FEW = 10_000;
const MANY = 1_000_000;
const SECONDS = 10;
/** The environment that the container image and the systemd unit in deploy/ set. */
const AS_DEPLOYED = { MALLOC_ARENA_MAX: '2' };
/** Time for the service to finish its asynchronous writes, in milliseconds. */
const REST_MS = 5_000;
/** Time for V8 to release unused memory to the operating system, in milliseconds. V8 does so after about half a minute with little load. */
const QUIET_MS = 60_000;

/**
 * Returns the resident memory in MiB after few requests, after many requests, and after an idle minute. Half of the requests are for lists of
 * up to 100 animals, with one status or all, and half are for single animals. Each request is sent with the key of a random client.
 */
export async function residentMemory(store, animals) {
  const keys = addClients(store);
  const script = join(store.folder, 'reads.lua');
  writeFileSync(script, lua(keys, animals));
  const { url, pid, stop } = await startService(store, AS_DEPLOYED, join(store.folder, 'memory.log'));
  let sent = 0;
  const after = async (wanted, seconds, restMs = REST_MS) => {
    while (sent < wanted) sent += await load(url, script, seconds);
    await new Promise((resolve) => setTimeout(resolve, restMs));
    const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return { requests: sent, mib: Math.round(Number(kib) / 1024) };
  };
  try {
    const [few, many] = [await after(FEW, 1), await after(MANY, SECONDS)];
    return { clients: CLIENTS, few, many, quiet: await after(MANY, 0, QUIET_MS) };
  } finally {
    await stop();
  }
}

/** Adds clients with one key each, copied from the existing client, and returns the keys. */
function addClients({ file }) {
  const database = new Database(file);
  const [client] = database.prepare('SELECT * FROM clients LIMIT 1').all();
  const [key] = database.prepare('SELECT * FROM api_keys WHERE client_id = ?').all(client.id);
  const adding = (table, row) => {
    const names = Object.keys(row);
    return database.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`,
    );
  };
  const [addClient, addKey] = [adding('clients', client), adding('api_keys', key)];
  const keys = [];
  database.transaction(() => {
    for (let number = 0; number < CLIENTS; number += 1) {
      const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
      const secret = generateApiKey('live');
      keys.push(secret);
      addClient.run({ ...client, id, name: `Client ${number}` });
      const digest = createHash('sha256').update(secret).digest('hex');
      addKey.run({ ...key, id: id.replace(/^0/, '1'), client_id: id, digest });
    }
  })();
  database.close();
  return keys;
}

async function load(url, script, seconds) {
  const args = ['--threads=1', '--connections=32', `--duration=${seconds}s`, '--timeout=10s'];
  const { stdout } = await promisify(execFile)('wrk', [...args, `--script=${script}`, url]);
  const [, requests] = /(\d+) requests in/.exec(stdout) ?? [];
  if (requests === undefined || /Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  return Number(requests);
}

function lua(keys, animals) {
  return `
    local keys = {}
    for key in ("${keys.join(' ')}"):gmatch('%S+') do keys[#keys + 1] = key end
    local lists = { '', '&status=available', '&status=pending', '&status=sold' }
    local random = math.random
    function init() math.randomseed(os.time()) end
    function request()
      local path
      if random(2) == 1 then path = '/v1/pets?limit=' .. random(100) .. lists[random(4)]
      else path = '/v1/pets/' .. random(${animals}) end
      return 'GET ' .. path .. ' HTTP/1.1\\r\\nHost: bench\\r\\nAuthorization: Bearer ' .. keys[random(#keys)] .. '\\r\\n\\r\\n'
    end`;
}
