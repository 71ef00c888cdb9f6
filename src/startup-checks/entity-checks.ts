import type { DataSource } from 'typeorm';
import { schemaDifference } from '../database/schema-difference.js';
import type { Findings } from './checked-handlers.js';

/** Checks what entities declare of their columns. */
export function checkColumns({ entityMetadatas }: DataSource, { faults }: Findings): void {
  for (const { name, columns } of entityMetadatas)
    for (const { propertyPath, type, transformer, enum: values, default: fallback } of columns) {
      const fault = (text: string) => faults.push(`${name}.${propertyPath}: ${text}`);
      if (type === 'bigint' && transformer === undefined)
        fault('SQLite reads a bigint rounded. Use @Int64Column().');
      if (values && typeof fallback === 'string' && !values.includes(fallback))
        fault(`the default "${fallback}" is none of its values ${values.join(', ')}.`);
    }
}

/** Checks that the migrations make the tables that the entities declare. */
export async function checkMigrations(dataSource: DataSource, { faults }: Findings): Promise<void> {
  const { up } = await schemaDifference(dataSource);
  // A table of SQLite is changed by making it anew: that statement tells more than those around it.
  const shown = up.find(({ query }) => query.startsWith('CREATE TABLE')) ?? up[0];
  if (!shown) return;
  const others = up.length === 1 ? '' : `, and ${up.length - 1} more`;
  faults.push(
    `Entities have what no migration makes (${shown.query}${others}). ` +
      'Run `npm run migration:generate -- <feature>/<name>`.',
  );
}
