import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith } from '../support/requirements.js';
import { ServiceProcess, folderOfTest } from '../support/service-process.js';
import { fill, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

describeWith('postgres-server', 'a service whose PostgreSQL has a full disk', () => {
  it.skipIf(NO_SMALL_DISK)(
    'reads on, refuses writes, says so once, and writes by itself when there is room',
    async () => {
      const server = await PostgresServer.start();
      onTestFinished(() => server.remove());
      const disk = await smallDisk(64, 2_000);
      server.give(disk);
      await server.query(
        `CREATE TABLESPACE small LOCATION '${disk}'`,
        'CREATE DATABASE store TABLESPACE small',
      );
      const url = server.url.replace(/postgres$/, 'store');
      const service = await ServiceProcess.start(await folderOfTest(), {
        DATABASE_URL: url,
        LOG_LEVEL: 'info',
      });
      onTestFinished(async () => void (await service.stop()));
      const add = () =>
        service.request('POST', '/v1/pets', { json: { name: 'x'.repeat(255), categoryId: 1 } });
      const read = async (path: string) => (await service.request('GET', path)).status;
      const ready = () => read('/health/ready');
      const unavailable = { status: 503, body: { code: 'service_unavailable' } };
      const lines = () =>
        ['cannot be written:', 'is written again'].map((text) => service.output.split(text).length - 1);

      await fill(disk);
      const acknowledged: number[] = [];
      let refused = await add();
      // A page of the table has room for some 25 of them.
      for (let asked = 0; refused.status === 201 && asked < 45; asked += 1) {
        acknowledged.push(refused.body.id);
        refused = await add();
      }
      expect(refused).toMatchObject(unavailable);
      // It stays full while it is tried some ten times.
      const since = performance.now();
      await expect.poll(() => performance.now() - since, { interval: 500 }).toBeGreaterThan(2_500);
      expect(await Promise.all([ready(), add(), read('/v1/pets?limit=1')])).toMatchObject([
        503,
        unavailable,
        200,
      ]);
      expect(lines()).toEqual([1, 0]);

      await rm(join(disk, 'ballast'));
      await expect.poll(ready).toBe(200);
      expect((await add()).status).toBe(201);
      expect(lines()).toEqual([1, 1]);
      for (const id of acknowledged) expect(await read(`/v1/pets/${id}`)).toBe(200);
    },
  );
});
