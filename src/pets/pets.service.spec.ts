import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from 'petstore-service/testing';
import { PetsService } from './pets.service.js';

let service: TestService;
let pets: PetsService;
beforeAll(async () => {
  service = await TestService.open();
  pets = service.app.get(PetsService);
});
afterAll(() => service.close());

const available = async () => (await pets.create({ name: 'Rex', categoryId: 1n, status: 'available' })).id;

async function statusOf(id: bigint): Promise<string> {
  return (await service.request('GET', `/v1/pets/${id}`)).body.status;
}

describe('changing the status of an animal', () => {
  it('is done when the animal has the expected one, and seen by the next request', async () => {
    const id = await available();
    expect(await statusOf(id)).toBe('available');
    expect(await pets.changeStatus(id, 'available', 'pending')).toBe(true);
    expect(await statusOf(id)).toBe('pending');
  });

  it('is not done when it has another', async () => {
    const id = await available();
    expect(await pets.changeStatus(id, 'pending', 'sold')).toBe(false);
    expect(await statusOf(id)).toBe('available');
  });

  it('is not done when there is no such animal', async () => {
    expect(await pets.changeStatus(-1n, 'available', 'sold')).toBe(false);
  });

  it('is done by one of ten callers at once', async () => {
    const id = await available();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => pets.changeStatus(id, 'available', 'pending')),
    );
    expect(all.filter(Boolean)).toHaveLength(1);
  });

  it('is undone with the transaction that the caller takes part in', async () => {
    const id = await available();
    const failing = service.app.get(DataSource).transaction(async () => {
      await pets.changeStatus(id, 'available', 'sold');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await statusOf(id)).toBe('available');
  });
});
