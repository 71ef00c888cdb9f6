import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readDatabaseUrl } from '../core/config/database-url.js';
import type { Settings } from '../core/config/settings.js';

/**
 * Looks whether the SQLite file of DATABASE_URL is there; what is answered, called once the database was opened, tells when it was made
 * just then. Its path is relative to the working directory: whoever calls a command elsewhere would work on a new and empty store
 * beside the one of the service, and not know.
 */
export function tellingOfNewFile({
  databaseUrl,
}: Pick<Settings, 'databaseUrl'>): (tell: (text: string) => void) => void {
  const address = readDatabaseUrl(databaseUrl);
  const file = address?.kind === 'sqlite' && address.file !== ':memory:' ? resolve(address.file) : undefined;
  if (file === undefined || existsSync(file)) return () => undefined;
  return (tell) => {
    if (existsSync(file)) tell(`Made the database ${file}, which was not there.\n`);
  };
}
