import type { MigrationInterface, QueryRunner } from 'typeorm';
import { FOLD_EXCESS } from './client-requests.statements.js';

/** Merges kinds of requests that earlier versions counted separately beyond the limit. Instances of these versions can keep running. */
export class RequestKinds1795600000000 implements MigrationInterface {
  readonly onlyExpands = true;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of FOLD_EXCESS) await runner.query(statement);
  }

  /** The totals do not change. */
  down(): Promise<void> {
    return Promise.resolve();
  }
}
