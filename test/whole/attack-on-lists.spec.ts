import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ResponseCache } from '../../src/http/caching/response-cache.js';
import { TestService } from '../kit/test-service.js';
import { Attack, shareVersions } from '../support/attack-on-lists.js';
import { NetworkProxy } from '../support/network-proxy.js';
import { UNLIMITED } from '../support/opened.js';
import { PetChangesModule } from '../support/pet-changes.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';

const WRITES = Number(process.env.PETSTORE_ATTACK_WRITES ?? 3_000);

describeWith(
  'postgres-server',
  'lists that two instances have cached, while PostgreSQL is restarted and fails over,',
  () => {
    let old: PostgresServer;
    let standby: PostgresServer;
    /** How the instances and all others reach the server. */
    let name: NetworkProxy;
    let one: TestService;
    let other: TestService;
    let url: string;

    beforeAll(async () => {
      old = await PostgresServer.start();
      await old.query('ALTER SYSTEM SET max_prepared_transactions = 16');
      await restart();
      standby = await PostgresServer.standbyOf(old);
      name = await NetworkProxy.to(old.port);
      url = `postgres://petstore@127.0.0.1:${name.port}/postgres`;
      const options = { modules: [PetChangesModule], environment: { DATABASE_URL: url } };
      one = await TestService.open({ ...UNLIMITED, ...options });
      other = await TestService.open(options);
      await old.query('DELETE FROM pets');
    });
    afterAll(async () => {
      for (const service of [other, one]) await service.close();
      await name.close();
      for (const server of [standby, old]) await server.remove();
    });

    const restart = async () => {
      await old.stop('fast');
      await old.start();
    };

    /** The new server has what the old one has acknowledged, which lives on, only reads, and cannot be reached by the name any more. */
    const failOver = async () => {
      await old.query('ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
      await pause(500);
      await expect
        .poll(() =>
          old.query(`SELECT gid::text FROM pg_prepared_xacts
          UNION ALL SELECT pid::text FROM pg_stat_activity WHERE backend_xid IS NOT NULL`),
        )
        .toEqual([]);
      await standby.untilEvenWith(old);
      await standby.promote();
      name.target = standby.port;
      name.cut();
    };

    it('lack nothing that any process acknowledged', { timeout: 1_200_000 }, async () => {
      const attack = new Attack([one, other], url, one.key, true);
      const { stale, checks, writes } = await attack.run(WRITES, [restart, failOver]);
      const hits = one.app.get(ResponseCache).use.hits + other.app.get(ResponseCache).use.hits;
      expect(stale).toEqual([]);
      expect(writes).toBeGreaterThanOrEqual(WRITES);
      expect(hits).toBeGreaterThan(checks / 10);
      expect(await old.query('SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL')).toEqual([]);
      const kinds = ['POST', 'PATCH', 'DELETE', 'delete', 'update', 'late', 'subtransactions', 'twoPhases'];
      expect(kinds.filter((kind) => (attack.noted[kind] ?? 0) < WRITES / 50)).toEqual([]);
    });

    it('would lack it if a query served requests that arrive after its start: the attack finds that', async () => {
      shareVersions([one, other]);
      const { stale } = await new Attack([one, other], url, one.key, true).run(400, []);
      expect(stale.length).toBeGreaterThan(0);
    });
  },
);
