import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where the rows of a TestService are: in memory, or in a file of a folder of its own. */
export type DatabaseKind = 'memory' | 'file';

/** The database of one service, and what removes it. */
export async function makeDatabase(
  kind: DatabaseKind,
): Promise<{ readonly url: string; readonly remove: () => Promise<void> }> {
  if (kind === 'memory') return { url: 'sqlite::memory:', remove: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  return {
    url: `sqlite:${join(folder, 'petstore.sqlite')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
