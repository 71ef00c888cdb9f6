// Created the fixture in f1645ebd/ once, with the build of commit f1645ebd in its checkout. Never run it with a later build:
//   node test/support/update-drill/make-fixture.mjs <checkout of f1645ebd, built> <URL of a PostgreSQL server> <output folder>
// The build runs in processes, and is used over HTTP and through its command line. A libfaketime clock is set to three days before the time
// of the fixture, to one hour before it, and to the time itself. Then the build is killed, and the data that it left behind is written as
// text. States that requests cannot produce in that time are created with SQL, and are marked below.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const [checkout, postgres, target] = process.argv.slice(2);
const require = createRequire(resolve(checkout, 'package.json'));
const pg = require('pg');
const { Redis } = require('ioredis');
const FAKETIME = readdirSync('/usr/lib')
  .map((name) => `/usr/lib/${name}/faketime/libfaketime.so.1`)
  .find((path) => existing(path));
const AT = Date.parse('2026-11-28T12:00:30Z');
const HOUR = 3_600_000;
const REDIS_PORT = 6390;

function existing(path) {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A store, and the processes of the old build that use it. */
class Old {
  constructor(kind, databaseUrl) {
    this.folder = mkdtempSync(join(tmpdir(), `fixture-${kind}-`));
    this.kind = kind;
    this.environment = {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATABASE_URL: databaseUrl(this.folder),
      DATABASE_MIGRATE: 'auto',
      PLANS: 'free=60/1000,pro=300/10000,business=1000/100000,team=500/50000',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      TZ: 'UTC',
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: join(this.folder, 'clock'),
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
    this.keys = {};
    this.clients = {};
  }
  /** Sets the clock, which then continues to run. Running processes notice the change within a second. */
  async clockAt(at) {
    const ahead = Math.round((at - Date.now()) / 1000);
    writeFileSync(join(this.folder, 'clock.new'), `${ahead < 0 ? '' : '+'}${ahead}`);
    renameSync(join(this.folder, 'clock.new'), join(this.folder, 'clock'));
    await pause(1_200);
  }
  async petstore(line, more = []) {
    const args = [...line.split(' '), ...more, '--json'];
    const child = spawn(process.execPath, [join(checkout, 'bin/petstore.js'), ...args], {
      cwd: this.folder,
      env: this.environment,
    });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (err += chunk));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${line}: ${err}${out}`);
    return JSON.parse(out);
  }
  async client(name, plan, ...more) {
    const made = await this.petstore(`client create --plan ${plan} --issue-key`, ['--name', name, ...more]);
    this.clients[name] = made.id;
    this.keys[name] = { id: made.key.id, key: made.key.key };
  }
  async key(name, client, ...more) {
    const { id, key } = await this.petstore('key issue', ['--client', client, '--label', name, ...more]);
    this.keys[name] = { id, key };
  }
  async start(more = {}, script = join(checkout, 'dist/bundle/main.js')) {
    const child = spawn(process.execPath, [script], {
      cwd: this.folder,
      env: { ...this.environment, ...more },
    });
    let output = '';
    child.stderr.pipe(process.stderr);
    this.child = child;
    this.ended = once(child, 'exit');
    this.url = await new Promise((done, fail) => {
      child.stdout.on('data', (chunk) => {
        output += chunk;
        const found = /Listening on (http:\/\/[\w.:]+)/.exec(output);
        if (found) done(found[1]);
      });
      child.once('exit', () => fail(new Error(output)));
    });
  }
  async stop(signal = 'SIGTERM') {
    this.child.kill(signal);
    await this.ended;
  }
  async send(name, method, path, json, headers = {}) {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.keys[name].key}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: typeof json === 'string' ? json : JSON.stringify(json) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      body: parsed(text),
    };
  }
  /** The same, but throws if the command fails. */
  async done(...request) {
    const result = await this.send(...request);
    if (result.status >= 300) throw new Error(`${request.join(' ')}: ${result.status} ${result.text}`);
    return result;
  }
  async sql(...statements) {
    if (this.kind === 'sqlite') {
      execFileSync('sqlite3', ['-cmd', '.timeout 5000', join(this.folder, 'data/petstore.sqlite')], {
        input: `${statements.join(';\n')};\n`,
      });
      return;
    }
    const client = new pg.Client({ connectionString: this.environment.DATABASE_URL });
    await client.connect();
    for (const sql of statements) await client.query(sql);
    await client.end();
  }
}

/** A receiver of webhooks. `/gone` responds with 410. */
async function receiver() {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === '/gone' ? 410 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

async function threeDaysBefore(old) {
  await old.clockAt(AT - 72 * HOUR);
  await old.petstore('db migrate');
  await old.client(
    'Operators',
    'enterprise',
    '--per-minute',
    '100000',
    '--per-day',
    '1000000',
    '--scopes',
    'admin,account,pets:read,pets:write',
  );
  await old.client('Shop', 'free', '--scopes', 'account,pets:read,pets:write');
  for (const plan of ['pro', 'business', 'team']) await old.client(plan, plan);
  await old.client('Few a day', 'enterprise', '--per-minute', '100', '--per-day', '20');
  await old.client('Few a minute', 'enterprise', '--per-minute', '5', '--per-day', '1000');
  await old.client('Banned', 'enterprise', '--per-minute', '2', '--per-day', '1000');
  await old.client('Suspended', 'pro');
  await old.key('expired', 'Shop', '--expires', '1d');
  await old.key('expires', 'Shop', '--expires', '30d');
  await old.key('reads', 'Shop', '--scopes', 'pets:read');
  await old.key('revoked', 'Shop');
  await old.key('rotated', 'Shop');
  await old.key('reads admin', 'Operators', '--scopes', 'admin:read');
  await old.start();
  const done = old.done.bind(old);
  const extremes = ['9223372036854775807', '-9223372036854775808', '0'];
  for (const [index, category] of extremes.entries())
    await done(
      'Shop',
      'POST',
      '/v1/pets',
      `{"name":"Ümlaut 🐾 ${index}","categoryId":${category},"status":"sold"}`,
    );
  for (const name of ['Rex', 'Tom', "O'Malley"])
    await done('Shop', 'POST', '/v1/pets', { name, categoryId: 7 });
  await done('expired', 'GET', '/v1/pets/1');
  for (const path of ['/v1/pets/424242', '/v1/pets/x', '/nowhere']) await old.send('Shop', 'GET', path);
  await done('Operators', 'POST', `/admin/keys/${old.keys.revoked.id}/revoke`);
  await done('Operators', 'POST', `/admin/clients/${old.clients.Suspended}/suspend`);
  await old.stop();
  // With SQL, because the database assigns ids: an id that a JavaScript number cannot represent.
  await old.sql(
    `INSERT INTO pets (id, name, category_id, status) VALUES (9007199254740993, 'Beyond 2^53', 9007199254740993, 'pending')`,
  );
}

async function oneHourBefore(old, facts) {
  await old.clockAt(AT - HOUR);
  await old.start();
  const done = old.done.bind(old);
  const up = await receiver();
  const down = await receiver();
  const endpoint = async (name, path, json) => {
    const { body } = await done(name, 'POST', path, json);
    facts.endpoints[json.label] = body.id;
  };
  const events = ['pets.created'];
  await endpoint('Shop', '/account/webhooks', {
    url: `${up.url}/up`,
    label: 'up',
    events: [...events, 'api_key.expiring', 'quota.threshold', 'api_key.banned'],
  });
  await endpoint('Shop', '/account/webhooks', { url: `${down.url}/down`, label: 'down', events });
  await endpoint('Operators', '/admin/webhooks', {
    url: `${up.url}/gone`,
    label: 'gone',
    events,
    clientId: old.clients.pro,
  });
  await done('Shop', 'POST', `/account/webhooks/${facts.endpoints.up}/rotate-secret`, { grace: '24h' });
  await done('Shop', 'POST', '/v1/pets', { name: 'Delivered', categoryId: 1 });
  await pause(1_500);
  down.close();
  for (const name of ['Waits first', 'Waits second'])
    await done('Shop', 'POST', '/v1/pets', { name, categoryId: 1 });
  const rotated = await done('Operators', 'POST', `/admin/keys/${old.keys.rotated.id}/rotate`, {
    grace: '24h',
  });
  old.keys['rotated to'] = { id: rotated.body.id, key: rotated.body.key };
  const json = { name: 'Made once', categoryId: 3 };
  const made = await done('Shop', 'POST', '/v1/pets', json, { 'idempotency-key': '"made-once"' });
  facts.idempotent = { key: '"made-once"', json, body: made.text, location: made.headers.location };
  for (let sent = 0; sent < 9; sent += 1) await done('Few a day', 'GET', '/v1/pets/1');
  await pause(1_500);
  await old.stop();
  up.close();
  facts.receivers = { up: up.url, down: down.url };
}

/**
 * An event whose listener has failed for the last time, and one whose listener has failed once. The listener fails because it cannot write
 * to a folder.
 */
async function outbox(old) {
  const script = join(checkout, 'test/support/durable-service.mjs');
  mkdirSync(join(old.folder, 'heard.txt'));
  await old.start({ PUBLISH: '1' }, script);
  await pause(800);
  await old.stop('SIGKILL');
  // With SQL, because 20 attempts take eight hours: the first event has failed 19 times.
  await old.sql(
    `UPDATE outbox_events SET failures = 19, due_at = 1 WHERE id = (SELECT MIN(id) FROM outbox_events)`,
    `UPDATE leases SET holder = NULL`,
  );
  await old.start({}, script);
  await pause(2_500);
  await old.stop('SIGKILL');
  await old.sql(`UPDATE leases SET holder = NULL WHERE name LIKE 'listener/%'`);
}

/** Two requests, and then 20 strikes, one per second, which lead to a ban of five minutes. */
async function ban(old, at, more) {
  await old.clockAt(at);
  await old.start(more);
  let last;
  for (let sent = 0; sent < 3; sent += 1) last = await old.send('Banned', 'GET', '/v1/pets/1');
  await pause(2_100);
  for (let sent = 0; sent < 21 && last.body.code !== 'api_key_banned'; sent += 1) {
    last = await old.send('Banned', 'GET', '/v1/pets/1');
    await pause(1_050);
  }
  if (last.body.code !== 'api_key_banned') throw new Error(last.text);
  await old.stop();
}

/** Requests that change nothing, for which the responses of the old build are stored: a name, the caller and the path. */
const REQUESTS = (old, facts, cursor) => [
  ['an animal', 'Shop', '/v1/pets/4'],
  ['the largest category', 'Shop', '/v1/pets/1'],
  ['the smallest category', 'Shop', '/v1/pets/2'],
  ['an id beyond 2^53', 'Shop', '/v1/pets/9007199254740993'],
  ['a page', 'Shop', '/v1/pets?limit=3'],
  ['the next page, by the cursor', 'Shop', cursor],
  ['a filter', 'Shop', '/v1/pets?status=sold'],
  ['no such animal', 'Shop', '/v1/pets/424242'],
  ['a key with an end', 'expires', '/v1/pets/1'],
  ['a key that reads', 'reads', '/v1/pets/1'],
  ['a rotated key in its grace', 'rotated', '/v1/pets/1'],
  ['the key that it was rotated to', 'rotated to', '/v1/pets/1'],
  ['an expired key', 'expired', '/v1/pets/1'],
  ['a revoked key', 'revoked', '/v1/pets/1'],
  ['a suspended client', 'Suspended', '/v1/pets/1'],
  ['a banned key', 'Banned', '/v1/pets/1'],
  ['a key without the scope', 'reads', '/admin/clients'],
  ['a key that reads /admin', 'reads admin', `/admin/clients/${old.clients.pro}`],
  ...['Shop', 'team', 'Few a day', 'Banned', 'Suspended'].map((name) => [
    `the client ${name}`,
    'Operators',
    `/admin/clients/${old.clients[name]}`,
  ]),
  ['the clients', 'Operators', '/admin/clients'],
  ['the keys', 'Operators', '/admin/keys'],
  ['the plans', 'Operators', '/admin/plans'],
  ['the scopes', 'Operators', '/admin/scopes'],
  ['the audit trail', 'Operators', '/admin/audit'],
  ['its export', 'Operators', '/admin/audit/export'],
  ['the last errors', 'Operators', '/admin/requests'],
  ['the endpoints', 'Operators', '/admin/webhooks'],
  ...['up', 'down', 'gone'].map((label) => [
    `the deliveries of ${label}`,
    'Operators',
    `/admin/webhooks/${facts.endpoints[label]}/deliveries`,
  ]),
  ['the account', 'Shop', '/account'],
  ['its endpoints', 'Shop', '/account/webhooks'],
  ['its errors', 'Shop', '/account/requests'],
];

async function atTheMoment(old, facts, more) {
  await old.clockAt(AT - 25_000);
  await old.start(more);
  for (let sent = 0; sent < 4; sent += 1) await old.done('Few a day', 'GET', '/v1/pets/1');
  for (let sent = 0; sent < 3; sent += 1) await old.done('Few a minute', 'GET', '/v1/pets/1');
  const page = await old.done('Shop', 'GET', '/v1/pets?limit=3');
  facts.cursor = /<([^>]+)>; rel="next"/.exec(page.headers.link)[1];
  await old.sql(...BLOCKED[old.kind]);
  await old.done('Operators', 'POST', '/v1/pets', { name: 'Fans out later', categoryId: 1 });
  await pause(1_500);
  facts.asked = [];
  for (const [what, name, path] of REQUESTS(old, facts, facts.cursor)) {
    const result = await old.send(name, 'GET', path);
    const headerNames = [
      'etag',
      'link',
      'retry-after',
      'x-ratelimit-limit',
      'x-ratelimit-remaining',
      'x-ratelimit-reset',
    ];
    const headers = Object.fromEntries(
      headerNames.flatMap((header) =>
        result.headers[header] === undefined ? [] : [[header, result.headers[header]]],
      ),
    );
    facts.asked.push({ what, name, path, status: result.status, headers, text: result.text });
  }
  facts.remaining = {};
  for (const name of ['Shop', 'Few a day', 'Few a minute']) {
    const { headers } = await old.done(name, 'GET', '/v1/pets/1');
    facts.remaining[name] = Number(headers['x-ratelimit-remaining']);
  }
  // Counts are written to the database within a second.
  await pause(1_500);
  await old.stop('SIGKILL');
  await old.sql(...UNBLOCKED[old.kind]);
}

// A message is fanned out within milliseconds of its commit. A trigger prevents this until the build is killed.
const BLOCKED = {
  sqlite: [
    `CREATE TRIGGER blocked BEFORE INSERT ON webhook_deliveries BEGIN SELECT RAISE(ABORT, 'blocked'); END`,
  ],
  postgres: [
    `CREATE FUNCTION blocked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'blocked'; END $$`,
    `CREATE TRIGGER blocked BEFORE INSERT ON webhook_deliveries FOR EACH ROW EXECUTE FUNCTION blocked()`,
  ],
};
const UNBLOCKED = {
  sqlite: ['DROP TRIGGER blocked'],
  postgres: ['DROP TRIGGER blocked ON webhook_deliveries', 'DROP FUNCTION blocked'],
};

/** The data in Redis, as commands that restore it with the same time to live. */
async function redisCommands() {
  const redis = new Redis(REDIS_PORT);
  const commands = [];
  for (const key of (await redis.keys('*')).toSorted()) {
    const type = await redis.type(key);
    if (type === 'string') commands.push(['SET', key, await redis.get(key)]);
    else if (type === 'hash')
      commands.push(['HSET', key, ...Object.entries(await redis.hgetall(key)).flat()]);
    else if (type === 'zset') {
      const members = await redis.zrange(key, 0, -1, 'WITHSCORES');
      commands.push([
        'ZADD',
        key,
        ...members.flatMap((_, index) => (index % 2 ? [] : [members[index + 1], members[index]])),
      ]);
    } else throw new Error(`${key}: ${type}`);
    const left = await redis.pttl(key);
    if (left > 0) commands.push(['PEXPIRE', key, String(left)]);
  }
  redis.disconnect();
  return commands;
}

function write(kind, name, content) {
  mkdirSync(join(target, kind), { recursive: true });
  writeFileSync(join(target, kind, name), content);
}

/** The receivers of the suite listen at other addresses, so the URLs become `http://127.0.0.1:1` and `:2`. The host name becomes shop. */
function addressed(text, { up, down }) {
  const actor = `${userInfo().username}@${hostname()}`;
  const sent = text.replaceAll(up, 'http://127.0.0.1:1').replaceAll(down, 'http://127.0.0.1:2');
  return sent.replaceAll(actor, 'operator@shop');
}

function writeFacts(old, facts) {
  const { receivers, ...rest } = facts;
  const text = JSON.stringify(
    { at: new Date(AT).toISOString(), keys: old.keys, clients: old.clients, ...rest },
    null,
    2,
  );
  write(old.kind, 'facts.json', `${addressed(text, receivers)}\n`);
}

async function makeSqlite() {
  const old = new Old('sqlite', (folder) => `sqlite:${join(folder, 'data/petstore.sqlite')}`);
  const facts = { endpoints: {} };
  await threeDaysBefore(old);
  await oneHourBefore(old, facts);
  await outbox(old);
  await ban(old, AT - 145_000, {});
  await atTheMoment(old, facts, {});
  facts.leftFiles = readdirSync(join(old.folder, 'data')).filter((name) => name.includes('-process-'));
  writeFacts(old, facts);
  write(
    'sqlite',
    'store.sql',
    addressed(
      execFileSync('sqlite3', [join(old.folder, 'data/petstore.sqlite'), '.dump'], { encoding: 'utf8' }),
      facts.receivers,
    ),
  );
}

async function makePostgres() {
  const name = `petstore_fixture_${process.pid}`;
  const url = postgres.replace(/[^/]*$/, name);
  const execute = async (sql) => {
    const client = new pg.Client({ connectionString: postgres });
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const redis = spawn('redis-server', ['--port', String(REDIS_PORT), '--save', '', '--bind', '127.0.0.1'], {
    stdio: 'ignore',
  });
  await execute(`CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  try {
    const old = new Old('postgres', () => url);
    const facts = { endpoints: {} };
    await threeDaysBefore(old);
    await oneHourBefore(old, facts);
    await outbox(old);
    await ban(old, AT - 205_000, {});
    const more = { REDIS_URL: `redis://127.0.0.1:${REDIS_PORT}`, REDIS_TIMEOUT_MS: '1000' };
    await ban(old, AT - 145_000, more);
    await atTheMoment(old, facts, more);
    write('postgres', 'redis.json', `${JSON.stringify(await redisCommands(), null, 2)}\n`);
    writeFacts(old, facts);
    const dump = execFileSync('pg_dump', ['--inserts', '--no-owner', '--no-privileges', url], {
      encoding: 'utf8',
    });
    // These are commands of psql, which are not part of the protocol.
    write('postgres', 'store.sql', addressed(dump.replaceAll(/^\\.*\n/gm, ''), facts.receivers));
  } finally {
    await execute(`DROP DATABASE ${name} WITH (FORCE)`);
    redis.kill();
  }
}

rmSync(join(target, 'sqlite'), { recursive: true, force: true });
await makeSqlite();
await makePostgres();
