import { CarriedRows, isFaulty } from './carried-rows.js';
import type { CopyState, TableState } from './copy-state.js';
import { CopyMismatch } from './copy-refusal.js';
import type { PostgresTarget } from './postgres-target.js';
import type { Tick } from './pre-flight.js';
import type { RawValue } from './raw-value.js';
import { type RawRow, type SqliteSource, keyOf } from './sqlite-source.js';
import type { TargetTable } from './target-schema.js';

/** Copies rows from where a copy has come to. */
export class RowsCopy {
  private tables: Readonly<Record<string, TableState>>;

  constructor(
    private readonly source: SqliteSource,
    private readonly target: PostgresTarget,
    private readonly state: CopyState,
  ) {
    this.tables = state.tables;
  }

  /** Copies all tables; `tick` is told of each batch once it is committed. */
  async run(tables: readonly TargetTable[], tick: Tick): Promise<void> {
    for (const table of tables) {
      const at = this.tables[table.name];
      if (at && at.copied < at.rows) await this.copy(table, at, tick);
    }
  }

  private async copy(table: TargetTable, begun: TableState, tick: Tick): Promise<void> {
    const rows = new CarriedRows(table);
    let { copied, after } = begun;
    for await (const batch of this.source.batches(table, after === null ? undefined : keyOfText(after))) {
      const carried = batch.map((row) => {
        const found = rows.carry(row);
        if (isFaulty(found))
          throw new CopyMismatch(
            `${this.source.file} was written to while it was read. Stop what writes, and copy into an empty database.`,
          );
        return found;
      });
      after = keyText(keyOf(table, batch.at(-1) ?? []));
      copied += batch.length;
      this.tables = Object.assign({}, this.tables, { [table.name]: { ...begun, copied, after } });
      await this.target.insert(table, carried, { ...this.state, tables: this.tables });
      tick(batch.length);
    }
  }
}

/** The values of a key as text that keeps them exactly. */
function keyText(key: RawRow): string {
  return JSON.stringify(key.map((raw) => (Buffer.isBuffer(raw) ? { text: raw.toString('utf8') } : raw)));
}

function keyOfText(text: string): RawRow {
  return (JSON.parse(text) as ({ text: string } | Exclude<RawValue, Buffer>)[]).map((raw) =>
    typeof raw === 'object' && raw !== null ? Buffer.from(raw.text, 'utf8') : raw,
  );
}
