import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { openDataSource } from '../../src/database/data-source.js';
import { makeCertificates } from '../support/certificates.js';
import { NetworkProxy } from '../support/network-proxy.js';
import { Pooler } from '../support/pooler.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { petstoreHere as petstore } from '../support/petstore-here.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';

/** Within this time a refusal must come, in milliseconds. */
const REFUSED_WITHIN_MS = 5_000;
/** Connections of a process beside its pool: for its locks and notices, and for a try. */
const BESIDE_THE_POOL = 2;

/** Password of a user, with every character that means something in a URL. */
const PASSWORD = 'a@b:c/d?e#f%g h&+=[]é';

describeWith('postgres-server', 'a service and the way to its PostgreSQL', () => {
  let server: PostgresServer;
  let certificates: string;

  beforeAll(async () => {
    server = await PostgresServer.start();
    certificates = await makeCertificates();
    for (const file of ['', 'server.key', 'server.crt', 'ca.crt']) server.give(join(certificates, file));
    await server.stop('fast');
    await server.start('listen_addresses=127.0.0.1,::1', ...encrypted(certificates));
    await server.query(
      `CREATE ROLE shop LOGIN SUPERUSER PASSWORD '${PASSWORD}'`,
      `CREATE DATABASE shop OWNER shop ENCODING 'UTF8' TEMPLATE template0`,
      `CREATE DATABASE network OWNER shop ENCODING 'UTF8' TEMPLATE template0`,
    );
    await server.query(
      'CREATE ROLE guest LOGIN',
      `CREATE DATABASE guests ENCODING 'UTF8' TEMPLATE template0`,
    );
    await server.accept('host all shop all scram-sha-256', 'local all shop scram-sha-256');
  });
  afterAll(async () => {
    await server.remove();
    await rm(certificates, { recursive: true, force: true });
  });

  const asShop = (address: string, parameters = '', database = 'shop') =>
    `postgres://shop:${encodeURIComponent(PASSWORD)}@${address}/${database}${parameters}`;

  describe('named by', () => {
    it.each([
      ['an IPv4 address', () => asShop(`127.0.0.1:${server.port}`), {}],
      ['the folder of a socket', () => asShop(`:${server.port}`, `?host=${server.folder}`), {}],
      ['sslmode=require', () => asShop(`127.0.0.1:${server.port}`, '?sslmode=require'), {}],
      [
        'sslmode=verify-ca with DATABASE_CA, whatever its name',
        () => asShop(`127.0.0.1:${server.port}`, '?sslmode=verify-ca'),
        { ca: 'ca.crt' },
      ],
      [
        'sslmode=verify-full with DATABASE_CA, by the name in the certificate',
        () => asShop(`localhost:${server.port}`, '?sslmode=verify-full'),
        { ca: 'ca.crt' },
      ],
    ])('%s is connected to', async (_, urlOf, { ca, password }: { ca?: string; password?: string }) => {
      const url = urlOf();
      vi.stubEnv('PGPASSWORD', password);
      onTestFinished(() => void vi.unstubAllEnvs());
      const settings = { ...exampleEnvironment(), DATABASE_URL: url, ...authority(ca) };
      const database = await openDataSource(new Settings(settings));
      const sessions = await database.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
      await database.destroy();
      expect(sessions).toEqual([{ ssl: url.includes('sslmode') }]);
    });

    it.each([
      [
        'a certificate of an unknown authority',
        () => asShop(`localhost:${server.port}`, '?sslmode=verify-full'),
        {},
        /(?:self-signed certificate|unable to (?:get|verify)).*\. Set DATABASE_CA to the file/,
      ],
      [
        'a certificate of another name',
        () => asShop(`127.0.0.1:${server.port}`, '?sslmode=verify-full'),
        { ca: 'ca.crt' },
        /127\.0\.0\.1 is not in the cert's list.*Name the server in DATABASE_URL as its certificate does/,
      ],
      [
        'a file that is not there',
        () => asShop(`localhost:${server.port}`, '?sslmode=verify-full'),
        { ca: 'absent.crt' },
        /DATABASE_CA: .*absent\.crt cannot be read \(ENOENT/,
      ],
      [
        'another password',
        () => `postgres://shop:wrong-secret@127.0.0.1:${server.port}/shop`,
        {},
        /password authentication failed.*Look at the user and the password/,
      ],
      [
        'a database that is not there',
        () => `postgres://petstore@127.0.0.1:${server.port}/absent`,
        {},
        /database "absent" does not exist.*CREATE DATABASE/,
      ],
      [
        'a user who may not make tables',
        () => `postgres://guest@127.0.0.1:${server.port}/guests`,
        {},
        /permission denied for schema public.*OWNER TO/,
      ],
      [
        'a port that nobody listens on',
        () => 'postgres://shop:wrong-secret@127.0.0.1:1/shop',
        {},
        /ECONNREFUSED.*Start the server/,
      ],
    ])('%s is refused, says why, and shows no password', async (_, urlOf, { ca }: { ca?: string }, why) => {
      const folder = await emptyFolder();
      onTestFinished(folder.remove);
      const environment = { DATABASE_URL: urlOf(), ...authority(ca) };
      const { code, stdout, stderr } = await petstore(folder.path, ['db', 'migrate'], environment);
      expect([code, stdout]).toEqual([1, '']);
      expect(withoutSecrets(stderr)).toMatch(why);
    });

    const authority = (ca?: string) => (ca === undefined ? {} : { DATABASE_CA: join(certificates, ca) });

    function withoutSecrets(told: string): string {
      expect(told).not.toContain('wrong-secret');
      expect(told).not.toContain(PASSWORD);
      expect(told).not.toMatch(/\n\s+at /);
      return told;
    }
  });

  describe('in which the network', () => {
    let proxy: NetworkProxy;
    let service: ServiceProcess;
    let key: string;
    let removeFolder: () => Promise<void>;

    beforeAll(async () => {
      proxy = await NetworkProxy.to(server.port);
      const folder = await emptyFolder();
      removeFolder = folder.remove;
      service = await ServiceProcess.start(folder.path, {
        DATABASE_URL: asShop(`127.0.0.1:${proxy.port}`, '', 'network'),
      });
      key = service.demoKey;
      const shop = new pg.Client({ connectionString: asShop(`127.0.0.1:${server.port}`, '', 'network') });
      await shop.connect();
      await shop.query(`UPDATE clients SET plan = 'enterprise', per_minute = 1000000, per_day = 100000000`);
      await shop.end();
      await vi.waitFor(async () => expect((await ask('GET')).limit).toBe('1000000'), 60_000);
    });
    afterAll(async () => {
      await service.stop();
      await proxy.close();
      await removeFolder();
    });

    const ask = async (method: 'GET' | 'POST', of = service.url, as = key) => {
      const since = performance.now();
      const response = await fetch(`${of}/v1/pets`, {
        method,
        headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
        ...(method === 'POST' ? { body: '{"name":"Rex","categoryId":1}' } : {}),
      });
      await response.arrayBuffer();
      return {
        status: response.status,
        limit: response.headers.get('X-RateLimit-Limit'),
        retryAfter: response.headers.get('Retry-After'),
        ms: performance.now() - since,
      };
    };
    const isAnswered = ({ status }: { status: number }) => status === 200 || status === 201;
    const isRefused = ({ status, retryAfter, ms }: Awaited<ReturnType<typeof ask>>) =>
      status === 503 && retryAfter !== null && ms < REFUSED_WITHIN_MS;
    const linesWith = (text: string) =>
      service.output.split('\n').filter((line) => line.includes(text)).length;
    const backAgain = async () => {
      await expect
        .poll(async () => [(await ask('GET')).status, (await ask('POST')).status], { timeout: 30_000 })
        .toEqual([200, 201]);
    };
    const sessions = async () => {
      const [row] = await server.query(
        `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = 'network' AND state IS NOT NULL`,
      );
      return row?.n as number;
    };

    it('swallows everything is refused within 5 s, then at once, and answers when it no longer does', async () => {
      await Promise.all(Array.from({ length: 30 }, () => ask('GET')));
      const before = linesWith('answers again');
      proxy.swallows = true;
      const first = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(at % 2 ? 'GET' : 'POST')));
      expect(first.filter((answer) => !isRefused(answer))).toEqual([]);
      const then = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(at % 2 ? 'GET' : 'POST')));
      expect(then.filter((answer) => !isRefused(answer) || answer.ms > 1_000)).toEqual([]);
      expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
      proxy.swallows = false;
      await backAgain();
      expect(linesWith('answers again') - before).toBe(1);
    });

    /** From now on each commit waits for a standby that there is not, until commits are `released`, or the test ends. */
    const holdCommits = async () => {
      onTestFinished(releaseCommits);
      await server.query(`ALTER SYSTEM SET synchronous_standby_names = 'absent'`, 'SELECT pg_reload_conf()');
    };
    const releaseCommits = async () => {
      await server.query('ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()');
    };
    /** How many commits wait for a standby. */
    const waiting = async (database = 'network') => {
      const sql = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = '${database}'`;
      return (await server.query(sql))[0]?.n as number;
    };

    it('has lost the connection of a commit that hangs: nobody waits for that any more', async () => {
      // What was late before is over.
      const over = () => linesWith('answers commits again');
      await expect.poll(over, { timeout: 20_000 }).toBe(linesWith('does not answer commits'));
      const before = over();
      await holdCommits();
      const asked = ask('POST');
      await expect.poll(waiting).toBeGreaterThan(0);
      expect(isRefused(await asked)).toBe(true);
      proxy.cut();
      await releaseCommits();
      await backAgain();
      await expect.poll(over, { timeout: 20_000 }).toBe(before + 1);
    });

    it('was away while commits hang: these keep their places, so that they do not become more', async () => {
      await server.query(`CREATE DATABASE narrow OWNER shop ENCODING 'UTF8' TEMPLATE template0`);
      const folder = await emptyFolder();
      onTestFinished(folder.remove);
      const narrow = await ServiceProcess.start(folder.path, {
        DATABASE_URL: asShop(`127.0.0.1:${proxy.port}`, '', 'narrow'),
        DATABASE_POOL: '2',
        DATABASE_STATEMENT_TIMEOUT_MS: '500',
      });
      onTestFinished(async () => void (await narrow.stop()));
      const post = async () => (await ask('POST', narrow.url, narrow.demoKey)).status;
      await expect.poll(post).toBe(201);
      await holdCommits();
      const hanging = async () => {
        expect(await post()).toBe(503);
        return waiting('narrow');
      };
      await expect.poll(hanging).toBe(2);
      proxy.swallows = true;
      await expect.poll(post).toBe(503);
      await expect.poll(() => narrow.output).toContain('does not answer: ');
      proxy.swallows = false;
      await expect.poll(() => narrow.output).toContain('answers again');
      for (let times = 0; times < 2; times += 1) expect(await hanging()).toBe(2);
      await releaseCommits();
      await expect.poll(post, { timeout: 20_000 }).toBe(201);
      await backAgain();
    });

    it('leaves no sessions behind', async () => {
      await expect.poll(sessions, { timeout: 20_000 }).toBeLessThanOrEqual(10 + BESIDE_THE_POOL);
    });

    it('is well, but the server accepts no more connections: 503 within 5 s, and back by itself', async () => {
      const others: pg.Client[] = [];
      proxy.cut();
      try {
        for (;;) {
          const other = new pg.Client({ connectionString: server.url });
          other.on('error', () => undefined);
          await other.connect();
          others.push(other);
        }
      } catch (error) {
        expect(String(error)).toContain('too many clients');
      }
      const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(at % 2 ? 'GET' : 'POST')));
      expect(answers.filter((answer) => !isAnswered(answer) && !isRefused(answer))).toEqual([]);
      await Promise.all(others.map((other) => other.end()));
      await backAgain();
    });
  });
});

describeWith('pgbouncer', 'a service before whose PostgreSQL there is a pooler', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.remove());

  const start = async (mode: 'session' | 'transaction') => {
    const pooler = await Pooler.start(mode, server.port);
    onTestFinished(() => pooler.stop());
    const folder = await emptyFolder();
    onTestFinished(folder.remove);
    return ServiceProcess.start(folder.path, { DATABASE_URL: pooler.url('postgres') });
  };

  it('serves in session mode', async () => {
    const service = await start('session');
    const headers = { Authorization: `Bearer ${service.demoKey}` };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) => fetch(`${service.url}/v1/pets?limit=${at + 1}`, { headers })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await service.stop()).code).toBe(0);
  });

  it('does not start in transaction mode, which would mix up prepared statements and locks, and says so', async () => {
    const failure = await start('transaction').catch((error: unknown) => String(error));
    expect(failure).toMatch(/a pooler in transaction mode is between .* pool_mode = session/);
  });
});

/** Settings of a server with these certificates. */
function encrypted(folder: string): string[] {
  return [
    'ssl=on',
    `ssl_cert_file=${join(folder, 'server.crt')}`,
    `ssl_key_file=${join(folder, 'server.key')}`,
    'max_connections=40',
  ];
}
