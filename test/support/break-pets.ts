import { join } from 'node:path';
import sqlite3 from 'sqlite3';

/** Drops the table of the animals behind the back of the service that runs in a folder, so that every operation on them fails. */
export function breakPets(folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(join(folder, 'data/petstore.sqlite'));
    database.exec('DROP TABLE pets', (failed) =>
      database.close((unclosed) => ((failed ?? unclosed) ? reject(failed ?? unclosed) : resolve())),
    );
  });
}
