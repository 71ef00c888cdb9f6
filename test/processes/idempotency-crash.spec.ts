import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { IdempotencyEntry } from '../../src/http/idempotency/idempotency-entry.entity.js';
import { Pet } from '../support/pets/pet.entity.js';
import { dataSourceOfTest } from '../support/databases.js';
import { clientWithKey } from '../support/petstore-here.js';
import { folderOfTest, serviceOfTest, ServiceProcess } from '../support/service-process.js';

const REQUESTS = 40;

it('kill -9 between the write and the response, and a retry: every animal exists exactly once', async () => {
  const path = await folderOfTest();
  const { key } = await clientWithKey(path);
  const dataSource = await dataSourceOfTest(`sqlite:${join(path, 'data/petstore.sqlite')}`);
  const countEntries = () => dataSource.manager.count(IdempotencyEntry);
  const names = Array.from({ length: REQUESTS }, () => randomUUID());

  const post = (service: ServiceProcess, name: string) => {
    const headers = { 'idempotency-key': name };
    return service.request('POST', '/v1/pets', { key, json: { name, categoryId: 1 }, headers });
  };

  const responses = new Map<string, string>();
  let unanswered = 0;
  for (const killAfter of [1, 20]) {
    const service = await ServiceProcess.start(path);
    const before = await countEntries();
    const sent = names
      .filter((name) => !responses.has(name))
      .map((name) =>
        post(service, name).then(
          ({ status, text }) => void (status === 201 && responses.set(name, text)),
          () => (unanswered += 1),
        ),
      );
    // As soon as something is committed, with the rest under way.
    while ((await countEntries()) < before + killAfter);
    service.signal('SIGKILL');
    await Promise.all(sent);
  }
  // The kills came between writes and responses, or this would prove nothing.
  expect(unanswered).toBeGreaterThan(0);
  expect(responses.size).toBeLessThan(REQUESTS);

  const service = await serviceOfTest(path);
  for (const name of names) {
    const { status, text } = await post(service, name);
    expect([status, JSON.parse(text)]).toEqual([201, expect.objectContaining({ name })]);
    expect(text).toBe(responses.get(name) ?? text);
  }
  const pets = await dataSource.manager.find(Pet);
  expect(pets.map((pet) => pet.name).toSorted()).toEqual(names.toSorted());
  expect(await countEntries()).toBe(REQUESTS);
});
