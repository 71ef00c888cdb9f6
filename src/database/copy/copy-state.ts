import type { TableSum } from './checksum.js';

/** The table of the target that is there while a copy is under way. */
export const STATE_TABLE = 'database_copy';

/** How far a table has been copied. */
export interface TableState extends TableSum {
  /** How many of its rows are copied. */
  readonly copied: number;
  /** The key of the last of them, as `keyText()` writes it; null before the first. */
  readonly after: string | null;
}

/** What the target knows of a copy that is under way. It is written together with the rows that it counts. */
export interface CopyState {
  /** How far each table is, by its name. Rows and checksum are those of the source: by them it is known again. */
  readonly tables: Readonly<Record<string, TableState>>;
  /** Statements that put back the foreign keys, which are taken off for the time of the copy. */
  readonly foreignKeys: readonly string[];
}

/** The state before anything is copied. */
export const NOTHING: CopyState = { tables: {}, foreignKeys: [] };

/** The rows that are copied, and those that there are. */
export function progressOf({ tables }: CopyState): { copied: number; rows: number } {
  const all = Object.values(tables);
  return {
    copied: all.reduce((sum, { copied }) => sum + copied, 0),
    rows: all.reduce((sum, { rows }) => sum + rows, 0),
  };
}
