import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DatabaseUnreachable, waitForDatabase } from '../../src/start/wait-for-database.js';
import { freePort } from '../support/free-port.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith, FAKETIME } from '../support/requirements.js';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';

it('a start without a server for PostgreSQL says so, and gives up in time', async () => {
  const databaseUrl = `postgres://petstore:secret@127.0.0.1:${await freePort()}/petstore`;
  const waiting = waitForDatabase({ databaseUrl, databaseCa: null }, 10);
  await expect(waiting).rejects.toThrow(DatabaseUnreachable);
  await expect(waiting).rejects.toThrow(
    /^postgres:\/\/petstore@[^ ]+ cannot be reached: .*ECONNREFUSED.*Start the server/,
  );
});

/** How many seconds pass for a process in one of this machine. */
const FASTER = 20;

describeWith('faketime', 'a start whose PostgreSQL does not come', () => {
  it('waits for a minute and exits with 75, which a supervisor can distinguish from a wrong setting', async () => {
    const startedAt = performance.now();
    const databaseUrl = `postgres://petstore@127.0.0.1:${await freePort()}/petstore`;
    const starting = serviceOfTest(await folderOfTest(), {
      DATABASE_URL: databaseUrl.replace('@', ':secret@'),
      LD_PRELOAD: FAKETIME,
      FAKETIME: `+0 x${FASTER}`,
    });
    const reason = `${databaseUrl} cannot be reached: connect ECONNREFUSED .+`;
    await expect(starting).rejects.toThrow(
      new RegExp(
        `^The service ended with 75:\\s+${reason} The start retries for 60 s\\.\nThe service could not start: ${reason}\\s+$`,
      ),
    );
    expect((performance.now() - startedAt) * FASTER).toBeGreaterThan(60_000);
  });
});

describeWith('postgres-server', 'a start before its PostgreSQL', () => {
  it('waits for the server, and serves', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.remove());
    await server.stop('fast');
    const starting = serviceOfTest(await folderOfTest(), { DATABASE_URL: server.url });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await server.start();
    expect((await (await starting).request('GET', '/health/ready')).status).toBe(200);
  });

  it('waits for a connection that others use up, and serves', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.remove());
    await server.query('CREATE ROLE shop LOGIN CONNECTION LIMIT 0', 'CREATE DATABASE shop OWNER shop');
    const DATABASE_URL = `postgres://shop@127.0.0.1:${server.port}/shop`;
    const starting = serviceOfTest(await folderOfTest(), { DATABASE_URL });
    await expect.poll(() => server.log()).toContain('too many connections for role');
    await server.query('ALTER ROLE shop CONNECTION LIMIT -1');
    expect((await (await starting).request('GET', '/health/ready')).status).toBe(200);
  });

  it('takes the password from the file that libpq reads, and warns of nothing', async () => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.remove());
    await server.query(`CREATE ROLE shop LOGIN PASSWORD 'right'`, 'CREATE DATABASE shop OWNER shop');
    await server.accept('host all shop 127.0.0.1/32 password');
    const path = await folderOfTest();
    const PGPASSFILE = join(path, 'pgpass');
    await writeFile(PGPASSFILE, `127.0.0.1:${server.port}:shop:shop:right\n`, { mode: 0o600 });
    const DATABASE_URL = `postgres://shop@127.0.0.1:${server.port}/shop`;
    const service = await serviceOfTest(path, { DATABASE_URL, PGPASSFILE });
    expect((await service.request('GET', '/health/ready')).status).toBe(200);
    expect((await service.stop()).stderr).toBe('');
  });

  it.each([
    ['a wrong password', 'shop:wrong@', '/postgres', 'password authentication failed'],
    ['a database that does not exist', 'petstore@', '/none', 'database "none" does not exist'],
  ])('does not wait because of %s', async (_, user, database, why) => {
    const server = await PostgresServer.start();
    onTestFinished(() => server.remove());
    await server.query(`CREATE ROLE shop LOGIN PASSWORD 'right'`);
    await server.accept('host all shop 127.0.0.1/32 scram-sha-256');
    const startedAt = performance.now();
    const url = `postgres://${user}127.0.0.1:${server.port}${database}`;
    await expect(serviceOfTest(await folderOfTest(), { DATABASE_URL: url })).rejects.toThrow(
      new RegExp(`ended with 1:[^]*${why}`),
    );
    expect(performance.now() - startedAt).toBeLessThan(50_000);
  });
});
