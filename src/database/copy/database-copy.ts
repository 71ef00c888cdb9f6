import { readDatabaseUrl, shownDatabaseUrl } from '../../core/config/database-url.js';
import type { PostgresAddress } from '../../core/config/database-url.js';
import type { DatabaseSettings } from '../data-source.js';
import type { TableSum } from './checksum.js';
import { CopyMismatch, CopyRefusal } from './copy-refusal.js';
import { type CopyState, progressOf } from './copy-state.js';
import { PostgresTarget } from './postgres-target.js';
import { countRows, examineRows, lastIds } from './pre-flight.js';
import { RowsCopy } from './rows-copy.js';
import { refuseServed } from './source-checks.js';
import { SqliteSource, quoted } from './sqlite-source.js';
import { prepareTarget } from './target-preparation.js';
import type { TargetTable } from './target-schema.js';

/** How far a copy is. */
export interface CopyProgress {
  readonly phase: 'Checking' | 'Copying' | 'Comparing';
  /** Rows that are done in this phase, and all of them. */
  readonly rows: number;
  readonly of: number;
}

/** What is to be copied. */
export interface CopyOrder {
  /** The SQLite file. */
  readonly file: string;
  /** The settings of the target. */
  readonly target: DatabaseSettings;
  /** Whether a copy that was interrupted is to go on. */
  readonly isResumed: boolean;
  /** Tables of the source that stay behind, which no migration makes. */
  readonly leftOut: readonly string[];
  /** Stops it between two batches. */
  readonly signal: AbortSignal;
  readonly tell: (progress: CopyProgress) => void;
}

/** A table that was copied. */
export interface CopiedTable extends TableSum {
  readonly name: string;
  /** The last id that was given: the next one is larger; null for a table that numbers nothing. */
  readonly lastId: bigint | null;
}

/** What was copied, after both databases were compared. */
export interface CopyReport {
  readonly rows: number;
  readonly tables: readonly CopiedTable[];
}

/**
 * Copies an SQLite file into an empty PostgreSQL database, or goes on with that. Throws CopyRefusal that says why not, and what to
 * do; what was copied until then is kept.
 */
export async function copyDatabase(order: CopyOrder): Promise<CopyReport> {
  const source = await SqliteSource.open(order.file);
  try {
    await refuseServed(order.file);
    const { databaseUrl, databaseCa = null } = order.target;
    const address = readDatabaseUrl(databaseUrl) as PostgresAddress;
    const options = { address, ca: databaseCa, pool: 1, statementTimeoutMs: 0 };
    const target = await PostgresTarget.open(options, shownDatabaseUrl(databaseUrl));
    try {
      return await new DatabaseCopy(order, source, target).run();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

class DatabaseCopy {
  constructor(
    private readonly order: CopyOrder,
    private readonly source: SqliteSource,
    private readonly target: PostgresTarget,
  ) {}

  async run(): Promise<CopyReport> {
    const { source, target, order } = this;
    const { begun, tables, checks } = await prepareTarget(order, source, target);
    const progress = this.progress('Checking', await countRows(source, tables));
    const sums = await examineRows(source, tables, checks, progress);
    const ids = await lastIds(source, tables);
    const state = begun ? this.sameAs(begun, sums) : await this.begin(tables, sums);
    try {
      return await this.copy(tables, state, ids);
    } catch (error) {
      if (error instanceof CopyMismatch) throw error;
      throw new CopyRefusal(
        `${error instanceof Error ? error.message : String(error)}\n` +
          'What was copied is kept. Run the same command again with --resume to go on.',
        { cause: error },
      );
    }
  }

  private async copy(
    tables: readonly TargetTable[],
    state: CopyState,
    ids: ReadonlyMap<string, bigint>,
  ): Promise<CopyReport> {
    const { source, target } = this;
    const { copied, rows } = progressOf(state);
    const copying = new RowsCopy(source, target, state);
    await copying.run(tables, this.progress('Copying', rows, copied));
    const compared = this.progress('Comparing', rows);
    for (const table of tables) {
      const [there, here] = [state.tables[table.name], await target.sum(table)];
      if (there?.rows !== here.rows || there.checksum !== here.checksum)
        throw differing(table.name, there, here);
      compared(here.rows);
    }
    if (await source.wasWritten())
      throw new CopyMismatch(
        `${source.file} was written to during the copy. Stop what writes, and copy into an empty database.`,
      );
    await target.finish(tables, state, ids);
    const copiedTables = tables.map(({ name }) => ({
      name,
      rows: state.tables[name]?.rows ?? 0,
      checksum: state.tables[name]?.checksum ?? '',
      lastId: ids.get(name) ?? null,
    }));
    return { rows, tables: copiedTables };
  }

  private async begin(
    tables: readonly TargetTable[],
    sums: ReadonlyMap<string, TableSum>,
  ): Promise<CopyState> {
    const state: CopyState = {
      tables: Object.fromEntries([...sums].map(([name, sum]) => [name, { ...sum, copied: 0, after: null }])),
      foreignKeys: tables
        .flatMap(({ foreignKeys }) => foreignKeys)
        .map(
          ({ table, name, definition }) =>
            `ALTER TABLE ${quoted(table)} ADD CONSTRAINT ${quoted(name)} ${definition}`,
        ),
    };
    await this.target.begin(tables, state);
    return state;
  }

  private sameAs(begun: CopyState, sums: ReadonlyMap<string, TableSum>): CopyState {
    for (const name of new Set([...sums.keys(), ...Object.keys(begun.tables)])) {
      const [before, now] = [begun.tables[name], sums.get(name)];
      if (before?.rows === now?.rows && before?.checksum === now?.checksum) continue;
      throw new CopyMismatch(
        `${this.source.file} is not what the interrupted copy was made of: ${name} had ${shown(before)} then, and has ${shown(now)} now. ` +
          'Go on with that file as it was, or copy this one into an empty database.',
      );
    }
    return begun;
  }

  private progress(phase: CopyProgress['phase'], of: number, from = 0): (more: number) => void {
    const { signal, tell } = this.order;
    let rows = from;
    tell({ phase, rows, of });
    return (more) => {
      rows += more;
      tell({ phase, rows, of });
      if (signal.aborted)
        throw new CopyRefusal(`Interrupted: ${phase.toLowerCase()} had come to ${rows} of ${of} rows.`);
    };
  }
}

function differing(table: string, there: TableSum | undefined, here: TableSum): CopyMismatch {
  return new CopyMismatch(
    `${table} is not the same on both sides: ${shown(there)} in SQLite, ${shown(here)} in PostgreSQL. Something else wrote there; copy ` +
      'into an empty database.',
  );
}

function shown(sum: TableSum | undefined): string {
  return sum === undefined ? 'no such table' : `${sum.rows} rows with the checksum ${sum.checksum}`;
}
