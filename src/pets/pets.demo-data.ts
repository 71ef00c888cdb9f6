import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { type DemoDataProvider, ProvidesDemoData } from 'petstore-service';
import { Pet, type PetStatus } from './pet.entity.js';

/** Name, category and status of one animal. */
export type DemoPet = readonly [name: string, categoryId: number, status: PetStatus];

/** Categories of the demo catalogue, by id. The specification defines no category record; these are its numbers. */
const [
  DOGS,
  CATS,
  RABBITS,
  GUINEA_PIGS,
  HAMSTERS,
  PARROTS,
  CANARIES,
  TORTOISES,
  LIZARDS,
  SNAKES,
  FRESHWATER_FISH,
  FERRETS,
] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;

/** The demo catalogue of an empty database outside production. */
export const DEMO_CATALOGUE: readonly DemoPet[] = [
  ['Biscuit', DOGS, 'available'],
  ['Luna', DOGS, 'available'],
  ['Otis', DOGS, 'pending'],
  ['Maple', DOGS, 'available'],
  ['Rufus', DOGS, 'sold'],
  ['Tilly', DOGS, 'available'],
  ['Bruno', DOGS, 'pending'],
  ['Hazel', DOGS, 'available'],
  ['Miso', CATS, 'available'],
  ['Duchess', CATS, 'available'],
  ['Pepper', CATS, 'sold'],
  ['Cleo', CATS, 'available'],
  ['Mango', CATS, 'pending'],
  ['Sir Whiskers', CATS, 'available'],
  ['Olive', CATS, 'available'],
  ['Smudge', CATS, 'sold'],
  ['Clover', RABBITS, 'available'],
  ['Thumper', RABBITS, 'available'],
  ['Nutmeg', RABBITS, 'pending'],
  ['Snowdrop', RABBITS, 'available'],
  ['Bramble', RABBITS, 'sold'],
  ['Peanut', GUINEA_PIGS, 'available'],
  ['Toffee', GUINEA_PIGS, 'available'],
  ['Crumpet', GUINEA_PIGS, 'available'],
  ['Bubble', GUINEA_PIGS, 'sold'],
  ['Squeak', GUINEA_PIGS, 'sold'],
  ['Nibbles', HAMSTERS, 'available'],
  ['Pip', HAMSTERS, 'available'],
  ['Gizmo', HAMSTERS, 'pending'],
  ['Acorn', HAMSTERS, 'available'],
  ['Captain', PARROTS, 'available'],
  ['Rio', PARROTS, 'pending'],
  ['Kiwi', PARROTS, 'available'],
  ['Paloma', PARROTS, 'available'],
  ['Echo', PARROTS, 'sold'],
  ['Sunny', CANARIES, 'available'],
  ['Figaro', CANARIES, 'available'],
  ['Lemon', CANARIES, 'available'],
  ['Caruso', CANARIES, 'sold'],
  ['Speedy', TORTOISES, 'available'],
  ['Sheldon', TORTOISES, 'available'],
  ['Methuselah', TORTOISES, 'pending'],
  ['Terra', TORTOISES, 'available'],
  ['Spike', LIZARDS, 'available'],
  ['Zilla', LIZARDS, 'available'],
  ['Saffron', LIZARDS, 'pending'],
  ['Chester', LIZARDS, 'available'],
  ['Kaa', SNAKES, 'available'],
  ['Noodle', SNAKES, 'available'],
  ['Cinder', SNAKES, 'sold'],
  ['Bubbles', FRESHWATER_FISH, 'available'],
  ['Neon', FRESHWATER_FISH, 'available'],
  ['Koi Boy', FRESHWATER_FISH, 'available'],
  ['Marlin', FRESHWATER_FISH, 'pending'],
  ['Coral', FRESHWATER_FISH, 'available'],
  ['Finn', FRESHWATER_FISH, 'sold'],
  ['Bandit', FERRETS, 'available'],
  ['Ziggy', FERRETS, 'available'],
  ['Weasley', FERRETS, 'pending'],
  ['Domino', FERRETS, 'available'],
];

/** Rows per statement; SQLite allows at most 32,766 bound values. */
const BATCH = 1_000;

/** The demo catalogue, repeated with numbered names if more animals are requested than it contains. */
@Injectable()
@ProvidesDemoData()
export class PetsDemoData implements DemoDataProvider {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  count(): Promise<number> {
    return this.pets.count();
  }

  async add(count = DEMO_CATALOGUE.length, onProgress?: (added: number) => void): Promise<number> {
    await this.pets.manager.transaction(async () => {
      for (let start = 0; start < count; start += BATCH) {
        const rows = Array.from({ length: Math.min(BATCH, count - start) }, (_, index) =>
          demoPet(start + index),
        );
        await this.pets.createQueryBuilder().insert().values(rows).updateEntity(false).execute();
        onProgress?.(start + rows.length);
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
