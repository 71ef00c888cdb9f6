import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from 'petstore-service/testing';
import { DEMO_CATALOGUE, PetsDemoData } from './pets.demo-data.js';

let service: TestService;
let demoData: PetsDemoData;
beforeAll(async () => {
  service = await TestService.open();
  demoData = service.app.get(PetsDemoData);
});
afterAll(() => service.close());

describe('the demo catalogue', () => {
  it('has some 60 animals of a dozen categories, in every status, none with the name of another', () => {
    expect(DEMO_CATALOGUE).toHaveLength(60);
    const [names, categories, statuses] = [0, 1, 2].map(
      (at) => new Set(DEMO_CATALOGUE.map((pet) => pet[at])),
    );
    expect([names?.size, categories?.size, statuses?.size]).toEqual([60, 12, 3]);
  });

  it('is what the first animals of an empty store are', async () => {
    expect(await demoData.count()).toBe(0);
    expect(await demoData.add()).toBe(60);
    const { body } = await service.request('GET', '/v1/pets?limit=100');
    expect(
      body.map(({ name, categoryId, status }: Record<string, unknown>) => [name, categoryId, status]),
    ).toEqual(DEMO_CATALOGUE);
  });

  it('is repeated with numbered names when more are asked for', async () => {
    const before = await demoData.count();
    const told: number[] = [];
    expect(await demoData.add(2_500, (added) => told.push(added))).toBe(2_500);
    expect(told).toEqual([1_000, 2_000, 2_500]);
    expect(await demoData.count()).toBe(before + 2_500);
    const last = await service.request('GET', `/v1/pets/${before + 61}`);
    expect(last.body.name).toBe('Biscuit 2');
  });
});
