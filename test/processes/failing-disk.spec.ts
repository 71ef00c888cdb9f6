import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../kit/answer.js';
import { clientWithKey } from '../support/petstore-here.js';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';
import { fill, NO_SMALL_DISK, smallDisk } from '../support/small-disk.js';

/** Asks until the answer has the status, or the time of the test is over. */
async function until(status: number, ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status === status) return answer;
    await setTimeout(100);
  }
}

interface Fault {
  /** Why it cannot be tried here; undefined where it can. */
  readonly missing: string | undefined;
  readonly folder: () => Promise<string>;
  readonly begin: (folder: string, pid: number) => Promise<void> | void;
  readonly end: (folder: string, pid: number) => Promise<void> | void;
  readonly said: RegExp;
}

const FAULTS: Record<string, Fault> = {
  'is full': {
    missing: NO_SMALL_DISK,
    folder: smallDisk,
    begin: fill,
    end: (folder) => rm(join(folder, 'ballast')),
    said: /the disk is full/,
  },
  'fails to write': {
    missing: spawnSync('prlimit', ['--version']).error && 'there is no prlimit',
    folder: folderOfTest,
    // No file may grow beyond its first page.
    begin: (_, pid) => void spawnSync('prlimit', ['--pid', `${pid}`, '--fsize=4096:unlimited']),
    end: (_, pid) => void spawnSync('prlimit', ['--pid', `${pid}`, '--fsize=unlimited:unlimited']),
    said: /the disk fails|the disk is full/,
  },
};

describe.each(Object.entries(FAULTS))('a disk that %s', (_, fault) => {
  it('is told of once, refuses writes and not reads, and is told of once more when it is well', async ({
    skip,
  }) => {
    if (fault.missing !== undefined) skip(fault.missing);
    const path = await fault.folder();
    const service = await serviceOfTest(path, { NODE_ENV: 'production' });
    const { key } = await clientWithKey(path, { NODE_ENV: 'production' });
    const json = { name: 'x'.repeat(250), categoryId: 1 };
    const add = () => service.request('POST', '/v1/pets', { key, json });
    const ready = () => service.request('GET', '/health/ready');
    expect((await add()).status).toBe(201);

    await fault.begin(path, service.pid);
    // The log has some room left in the blocks that it has already.
    await until(503, add);
    for (let sent = 0; sent < 40; sent += 1) {
      const { status, headers } = await add();
      expect([201, 503]).toContain(status);
      if (status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await service.request('GET', '/v1/pets?limit=1', { key })).status).toBe(200);
    expect((await until(503, ready)).body.message).toMatch(fault.said);
    expect((await service.request('GET', '/health/live')).status).toBe(200);

    await fault.end(path, service.pid);
    await until(200, ready);
    expect((await add()).status).toBe(201);
    await service.stop();
    const told = service.output
      .split('\n')
      .filter((line) => /"context":"(?:Database|Errors)"/.test(line))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(told).toEqual([
      expect.stringMatching(/petstore\.sqlite cannot be written: the disk .*the service recovers by itself/),
      expect.stringMatching(/written again/),
    ]);
  });
});
