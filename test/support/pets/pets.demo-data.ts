import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { type DemoDataProvider, ProvidesDemoData } from 'petstore-service';
import { PET_STATUSES, Pet } from './pet.entity.js';

/** Number of rows added to an empty database. */
const COUNT = 60;
const NAMES = ['Biscuit', 'Luna', 'Otis', 'Maple', 'Rufus', 'Tilly', 'Bruno', 'Hazel', 'Miso', 'Duchess'];
/** Rows per statement. SQLite allows at most 32,766 bound parameters. */
const BATCH = 1_000;

@Injectable()
@ProvidesDemoData()
export class PetsDemoData implements DemoDataProvider {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  count(): Promise<number> {
    return this.pets.count();
  }

  async add(count = COUNT, onProgress?: (added: number) => void): Promise<number> {
    await this.pets.manager.transaction(async () => {
      for (let start = 0; start < count; start += BATCH) {
        const length = Math.min(BATCH, count - start);
        const rows = Array.from({ length }, (_, index) => demoPet(start + index));
        await this.pets.createQueryBuilder().insert().values(rows).updateEntity(false).execute();
        onProgress?.(start + rows.length);
      }
    });
    return count;
  }
}

function demoPet(index: number): Pick<Pet, 'name' | 'categoryId' | 'status'> {
  const round = Math.floor(index / NAMES.length);
  const name = `${NAMES[index % NAMES.length] ?? ''}${round === 0 ? '' : ` ${round + 1}`}`;
  const status = PET_STATUSES[index % PET_STATUSES.length] ?? 'available';
  return { name, categoryId: BigInt(1 + (index % 12)), status };
}
