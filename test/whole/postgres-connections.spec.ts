import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { openDataSource } from '../../src/database/data-source.js';
import { makeCertificates } from '../support/certificates.js';
import { Pooler } from '../support/pooler.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { petstoreHere as petstore } from '../support/petstore-here.js';
import { ServiceProcess, folderOfTest, serviceOfTest } from '../support/service-process.js';

/** Password of a user, with every character that means something in a URL. */
const PASSWORD = 'a@b:c/d?e#f%g h&+=[]é';

describeWith('postgres-server', 'a service and the way to its PostgreSQL', () => {
  let server: PostgresServer;
  let certificates: string;
  /** Accepts connections, and says nothing. */
  const hanging = createServer().listen(0, '127.0.0.1');

  beforeAll(async () => {
    server = await PostgresServer.start();
    certificates = await makeCertificates();
    for (const file of ['', 'server.key', 'server.crt', 'ca.crt']) server.handOver(join(certificates, file));
    await server.stop('fast');
    await server.start('listen_addresses=127.0.0.1,::1', ...encrypted(certificates));
    await server.query(
      `CREATE ROLE shop LOGIN SUPERUSER PASSWORD '${PASSWORD}'`,
      `CREATE DATABASE shop OWNER shop ENCODING 'UTF8' TEMPLATE template0`,
    );
    await server.query(
      'CREATE ROLE guest LOGIN',
      `CREATE DATABASE guests ENCODING 'UTF8' TEMPLATE template0`,
    );
    await server.accept('host all shop all scram-sha-256', 'local all shop scram-sha-256');
  });
  afterAll(async () => {
    hanging.close();
    await server.remove();
    await rm(certificates, { recursive: true, force: true });
  });

  const asShop = (address: string, parameters = '') =>
    `postgres://shop:${encodeURIComponent(PASSWORD)}@${address}/shop${parameters}`;

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
        /127\.0\.0\.1 is not in the cert's list.*In DATABASE_URL, use a host name/,
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
        /password authentication failed.*Check the user and the password/,
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
      [
        'a server that hangs',
        () => `postgres://shop:wrong-secret@127.0.0.1:${(hanging.address() as AddressInfo).port}/shop`,
        {},
        /timeout\. Check that PostgreSQL listens and responds at the host/,
      ],
    ])('%s is refused, says why, and shows no password', async (_, urlOf, { ca }: { ca?: string }, why) => {
      const environment = { DATABASE_URL: urlOf(), ...authority(ca) };
      const { code, stdout, stderr } = await petstore(await folderOfTest(), ['db', 'migrate'], environment);
      expect([code, stdout]).toEqual([1, '']);
      expect(withoutSecrets(stderr)).toMatch(why);
    });

    const authority = (ca?: string) => (ca === undefined ? {} : { DATABASE_CA: join(certificates, ca) });

    function withoutSecrets(text: string): string {
      expect(text).not.toContain('wrong-secret');
      expect(text).not.toContain(PASSWORD);
      expect(text).not.toMatch(/\n\s+at /);
      return text;
    }
  });
});

describeWith('postgres-server', 'a service whose user may have few connections', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.query(
      'CREATE ROLE few LOGIN',
      `CREATE DATABASE few OWNER few ENCODING 'UTF8' TEMPLATE template0`,
    );
  });
  afterAll(() => server.remove());

  const limit = async (most: number, what = 'ROLE') =>
    void (await server.query(`ALTER ${what} few CONNECTION LIMIT ${most}`));
  const url = () => `postgres://few@127.0.0.1:${server.port}/few`;
  const start = async () => {
    const folder = await folderOfTest();
    return serviceOfTest(folder, { DATABASE_URL: url(), DATABASE_POOL: '4', LOG_LEVEL: 'info' });
  };

  it.each([
    [1, 'ROLE', /could not start: .*PostgreSQL allows 1 connections, and DATABASE_POOL=4 needs 7/],
    [2, 'ROLE', /could not start: .*PostgreSQL allows 2 connections, and DATABASE_POOL=4 needs 7/],
    [6, 'ROLE', /could not start: .*PostgreSQL allows 6 connections, and DATABASE_POOL=4 needs 7/],
    [6, 'DATABASE', /could not start: .*PostgreSQL allows 6 connections, and DATABASE_POOL=4 needs 7/],
  ])('does not start with %d of its %s, and says so', async (most, what, sentence) => {
    onTestFinished(() => limit(-1, what));
    await limit(most, what);
    expect(await start().catch((error: unknown) => String(error))).toMatch(sentence);
  });

  it.each([5, 6])('does not start when others use %d of 7, and says so', async (used) => {
    onTestFinished(() => limit(-1));
    await limit(7);
    for (let made = 0; made < used; made += 1) {
      const other = new pg.Client({ connectionString: url() });
      await other.connect();
      onTestFinished(() => other.end());
    }
    const failure = await start().catch((error: unknown) => String(error));
    expect(failure).toMatch(/could not start: .*too many connections for role .* or lower DATABASE_POOL/);
  });

  it('continues on those that are open when it gets no others', async () => {
    await limit(7);
    const service = await start();
    const client = new pg.Client({ connectionString: server.url.replace(/[^/]*$/, 'few') });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`UPDATE clients SET plan = 'enterprise', per_minute = 1000000, per_day = 1000000`);
    const request = (limitOfPage: number) => service.request('GET', `/v1/pets?limit=${limitOfPage}`);
    await expect.poll(async () => (await request(1)).headers.get('x-ratelimit-limit')).toBe('1000000');
    await limit(1);
    await client.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const crowd = Array.from({ length: 24 }, (_, at) => request(at + 2));
    await expect.poll(() => service.output).toContain('does not keep up');
    await client.query('COMMIT');
    const refused = (await Promise.all(crowd)).filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    for (let times = 0; times < 20; times += 1) expect((await request(times + 30)).status).toBe(200);
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
    // If all connections of its pool are already open, it asks for no others.
    expect(service.warnings).toEqual([
      expect.stringMatching(/does not keep up: (?:too many connections|a statement waited too long)/),
    ]);
    expect((await service.stop()).code).toBe(0);
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
    return ServiceProcess.start(await folderOfTest(), { DATABASE_URL: pooler.url('postgres') });
  };

  it('serves in session mode', async () => {
    const service = await start('session');
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, at) => service.request('GET', `/v1/pets?limit=${at + 1}`)),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
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
  ];
}
