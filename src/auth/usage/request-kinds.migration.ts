import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FOLD_EXCESS } from './client-requests.statements.js';

/** Limits the kinds of requests that earlier versions have counted apart. Instances of these may continue beside it. */
export class RequestKinds1795600000000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of FOLD_EXCESS) await runner.query(statement);
  }

  /** The sums are the same. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
