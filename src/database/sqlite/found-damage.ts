import { Logger } from '@nestjs/common';
import type { ApiError } from '../../errors/api-error.js';
import { unavailable } from './unavailable.js';
import { damaged } from './unusable-database.js';

/**
 * Damage that SQLite met in the file while the service ran. It stays until the process ends: what else is damaged shows only
 * where it is read, and the next start looks for it.
 */
export class FoundDamage {
  private readonly logger = new Logger('Database');
  private refusal: ApiError | undefined;

  /** `file` is how the log calls the database. */
  constructor(private readonly file: string) {}

  /** Why the service is not to be sent requests any more; undefined while no damage was met. */
  get fault(): ApiError | undefined {
    return this.refusal;
  }

  /** Notes what SQLite said, which the log is told once; answers the refusal of the statement that met it. */
  note(error: unknown): ApiError {
    if (!this.refusal) {
      const found = error instanceof Error ? error.message : String(error);
      this.logger.error(
        `${damaged(this.file, found)} "petstore doctor" shows the damage. What meets it is refused with 503, and ` +
          '/health/ready is 503 until the service is started again.',
      );
    }
    this.refusal ??= unavailable('the database file is damaged', error, true);
    return this.refusal;
  }
}
