import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { OutboxEvent } from '../../src/events/outbox/outbox-event.entity.js';
import { Pet } from '../support/pets/pet.entity.js';
import { dataSourceOfTest } from '../support/databases.js';
import { folderOfTest, ROOT, serviceOfTest, ServiceProcess } from '../support/service-process.js';

const MAIN = join(ROOT, 'test/support/durable-service.mjs');
const [FIRST, SECOND] = ['bigint 7 first', 'bigint 7 second'];

it.each([
  ['between commit and delivery', 2, [FIRST, SECOND]],
  // The second process waits until the lease of the killed one is over.
  ['while the listener handles the first', 2, [FIRST, FIRST, SECOND]],
])('kill -9 %s: the next start delivers what was committed, in order', async (DIE, pets, received) => {
  const path = await folderOfTest();
  const killed = ServiceProcess.start(path, { PUBLISH: 'yes', DIE }, MAIN);
  const started = await killed.catch(() => undefined);
  expect(await started?.ended.then(({ signal }) => signal)).toBe(started && 'SIGKILL');

  await serviceOfTest(path, {}, MAIN);
  const dataSource = await dataSourceOfTest(`sqlite:${join(path, 'data/petstore.sqlite')}`);
  await expect.poll(() => dataSource.manager.count(OutboxEvent)).toBe(0);
  const lines = await readFile(join(path, 'heard.txt'), 'utf8').catch(() => '');
  expect(lines.split('\n').filter((line) => line !== '')).toEqual(received);
  expect(await dataSource.manager.count(Pet)).toBe(pets);
});
