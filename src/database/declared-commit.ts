import type { DataSource, EntityManager } from 'typeorm';
import type { CommittedState, Remembered } from './committed-state.js';

/**
 * Runs writes in one transaction whose commit changes only these kinds of what is remembered. They must write something:
 * SQLite commits nothing when every page is left as it was, and the commit that is waited for would be somebody else's.
 */
export async function commitDeclared<T>(
  dataSource: DataSource,
  committed: CommittedState,
  changes: readonly Remembered[],
  writes: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  try {
    return await dataSource.transaction(async (manager) => {
      const result = await writes(manager);
      committed.expectCommit(changes);
      return result;
    });
  } finally {
    committed.withdraw();
  }
}
