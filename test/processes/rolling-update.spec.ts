import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { postgresOfTest } from '../support/databases.js';
import { freePort } from '../support/free-port.js';
import { keepDoing } from '../support/keep-doing.js';
import { Nginx, ownSite } from '../support/nginx.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith } from '../support/requirements.js';
import { clientWithKey } from '../support/petstore-here.js';
import { folderOfTest, petstore, serviceOfTest } from '../support/service-process.js';

const CLIENTS = 4;
/** Responses required between two stops, so that each stop occurs under load. */
const BETWEEN_STOPS = 80;

/** A little longer than nginx sends an instance nothing that was down, in milliseconds. */
const EXCLUDED_MS = 11_000;

/** Clients that add and list animals in turn, each after its previous response. */
function shopping(nginx: Nginx, key: string) {
  const refused: string[] = [];
  const added = new Set<string>();
  let responses = 0;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const request = async (expected: number, path: string, more: object) => {
    const response = await nginx.requestRaw(path, { headers, ...more }).catch(String);
    if (typeof response === 'string' || response.status !== expected)
      refused.push(JSON.stringify([path, response]));
    responses += 1;
  };
  const end = keepDoing(CLIENTS, async (client, at) => {
    const name = `${client}-${at}`;
    await request(201, '/v1/pets', { method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) });
    added.add(name);
    await request(200, '/v1/pets?limit=5', {});
  });
  const untilResponses = async (more: number) => {
    const enough = responses + more;
    await expect.poll(() => responses, { interval: 5 }).toBeGreaterThanOrEqual(enough);
  };
  return { refused, added, end, untilAnswered: untilResponses };
}

describeWith('nginx', 'an update of two instances behind nginx, one after the other', () => {
  it('refuses no request, and carries each one out once', async () => {
    const path = await folderOfTest();
    const redis = await RedisServer.ofTest();
    const database = await postgresOfTest();
    const shared = { DATABASE_URL: database, REDIS_URL: redis.url };
    await petstore(path, ['db', 'migrate'], shared);
    const ports = [await freePort(), await freePort()];
    const start = (port: number) => serviceOfTest(path, { ...shared, PORT: String(port), TRUST_PROXY: '1' });
    const instances = [await start(ports[0] ?? 0), await start(ports[1] ?? 0)];
    const { key } = await clientWithKey(path, shared);
    const nginx = await Nginx.start(ownSite(instances.map(({ url }) => url)));
    onTestFinished(() => nginx.stop());

    const shoppers = shopping(nginx, key);
    for (const [index, port] of ports.entries()) {
      await shoppers.untilAnswered(BETWEEN_STOPS);
      expect((await instances[index]?.stop('SIGTERM'))?.code).toBe(0);
      await shoppers.untilAnswered(BETWEEN_STOPS);
      instances[index] = await start(port);
      // As the recipe does: nginx excludes an instance for 10 s.
      await setTimeout(EXCLUDED_MS);
    }
    await shoppers.untilAnswered(BETWEEN_STOPS);
    await shoppers.end();
    // An instance that is away refuses connections, which nginx tries elsewhere: the faults in between explain a failure.
    const faults = nginx.faults.split('\n').filter((line) => !line.includes('(111: Connection refused)'));
    expect(shoppers.refused, faults.join('\n')).toEqual([]);

    const connection = new pg.Client({ connectionString: database });
    await connection.connect();
    const { rows } = await connection.query<{ name: string }>('SELECT name FROM pets');
    await connection.end();
    const listed = rows.map(({ name }) => name).filter((name) => /^\d+-\d+$/.test(name));
    expect(listed.toSorted()).toEqual([...shoppers.added].toSorted());
  });
});
