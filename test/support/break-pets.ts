import { join } from 'node:path';
import { onFile } from './sqlite-file.js';

/** Drops the table of the animals behind the back of the service that runs in a folder, so that every operation on them fails. */
export function breakPets(folder: string): Promise<void> {
  return onFile(join(folder, 'data/petstore.sqlite'), 'DROP TABLE pets');
}
