import type { Database } from './database.js';

/** Checks what modules declare before the database is opened, so that a start which is refused has changed nothing. */
export abstract class DeclarationChecks {
  /** Throws DeclarationError for the first declaration that cannot work. `declared` is the database that is to be opened. */
  abstract check(declared: Database): Promise<void>;
}
