import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { folderOfTest, petstore, serviceOfTest, ServiceProcess } from '../support/service-process.js';
import { TestService } from '../kit/test-service.js';

/** Of a page of SQLite, in bytes. */
const PAGE_BYTES = 4_096;

/** The started service on a file of its own, with a client of it that no quota stops. */
async function open() {
  const folder = await folderOfTest();
  const file = join(folder, 'store.sqlite');
  const environment = { DATABASE_URL: `sqlite:${file}` };
  const limits = { perMinute: 1_000_000, perDay: 1_000_000 };
  const before = await TestService.open({ plan: 'enterprise', limits, environment });
  await before.close();
  const { key } = before;
  const service = await serviceOfTest(folder, { NODE_ENV: 'test', ...environment });
  const request = async (method: string, path: string) => {
    const json = method === 'POST' ? { name: 'Rex', categoryId: 1 } : undefined;
    const { status, headers, body } = await service.request(method, path, { key, json });
    return { status, retryAfter: headers.get('retry-after'), body: body as object };
  };
  return { folder, file, environment, service, request };
}

/** What the log has of the database and of faults. */
function told(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => /"context":"(?:Database|Errors)"/.test(line))
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
}

describe('damage in the file', () => {
  it('is told of once, refuses what meets it with 503, and the service is not ready until a restart finds it', async () => {
    const { folder, file, environment, service, request } = await open();
    // All but the first page, whose change would be noticed without reading what is damaged.
    const descriptor = openSync(file, 'r+');
    const bytes = statSync(file).size - PAGE_BYTES;
    writeSync(descriptor, Buffer.alloc(bytes, 0xff), 0, bytes, PAGE_BYTES);
    closeSync(descriptor);

    // The service and SQLite have it in memory, until something is committed and the key is looked up anew.
    while ((await request('GET', '/v1/pets')).status === 200) await setTimeout(50);
    for (let asked = 0; asked < 20; asked += 1)
      for (const method of ['GET', 'POST'])
        expect(await request(method, '/v1/pets')).toEqual({
          status: 503,
          retryAfter: expect.stringMatching(/^[1-9]/),
          body: expect.objectContaining({ code: 'service_unavailable' }),
        });
    expect((await request('GET', '/health/ready')).body).toMatchObject({
      message: expect.stringContaining('the database file is damaged'),
    });
    expect((await request('GET', '/health/live')).status).toBe(200);
    await service.stop();
    expect(told(service.output)).toEqual([
      expect.stringMatching(/store\.sqlite is damaged \(SQLITE_.*backup.*petstore doctor/),
    ]);
    const { code, stdout } = await petstore(folder, ['doctor'], { NODE_ENV: 'test', ...environment });
    expect([code, stdout]).toEqual([1, expect.stringContaining('is damaged')]);
    await expect(ServiceProcess.start(folder, { NODE_ENV: 'test', ...environment })).rejects.toThrow(
      'is damaged',
    );
  });
});
