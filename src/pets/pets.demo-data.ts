import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { ProvidesDemoData, type DemoDataProvider } from '../database/demo-data.js';
import { DEMO_CATALOGUE } from './demo-catalogue.js';
import { Pet } from './pet.entity.js';

/** Rows per statement; SQLite takes at most 32,766 bound values. */
const BATCH = 1_000;

/** The demo catalogue, repeated with numbered names when more animals are asked for than it holds. */
@Injectable()
@ProvidesDemoData()
export class PetsDemoData implements DemoDataProvider {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  count(): Promise<number> {
    return this.pets.count();
  }

  async add(count = DEMO_CATALOGUE.length): Promise<number> {
    await this.pets.manager.transaction(async () => {
      for (let start = 0; start < count; start += BATCH) {
        const rows = Array.from({ length: Math.min(BATCH, count - start) }, (_, index) =>
          demoPet(start + index),
        );
        await this.pets.createQueryBuilder().insert().values(rows).updateEntity(false).execute();
      }
    });
    return count;
  }
}

function demoPet(index: number): Pick<Pet, 'name' | 'categoryId' | 'status'> {
  const round = Math.floor(index / DEMO_CATALOGUE.length);
  const [name, categoryId, status] = DEMO_CATALOGUE[index % DEMO_CATALOGUE.length] ?? [
    'Biscuit',
    1,
    'available',
  ];
  return { name: round === 0 ? name : `${name} ${round + 1}`, categoryId: BigInt(categoryId), status };
}
