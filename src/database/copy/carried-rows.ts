import { RunningSum, type TableSum } from './checksum.js';
import { type ColumnKind, ValueFault, kindOf } from './column-kinds.js';
import { CopyRefusal } from './copy-refusal.js';
import type { RawRow } from './sqlite-source.js';
import type { TargetColumn, TargetTable } from './target-schema.js';

/** A row as PostgreSQL reads it: a text for each value, null for NULL. */
export type CarriedRow = readonly (string | null)[];

/** A value that PostgreSQL would refuse. */
export interface RowFault {
  /** Where its column is in the table. */
  readonly at: number;
  readonly fault: ValueFault;
}

/** Turns rows of SQLite into those of one table of PostgreSQL. */
export class CarriedRows {
  private readonly kinds: readonly (readonly [column: TargetColumn, kind: ColumnKind])[];
  private readonly sum = new RunningSum();

  /** Throws CopyRefusal for a table with a column whose type cannot be carried. */
  constructor(table: TargetTable) {
    this.kinds = table.columns.map((column) => {
      const kind = kindOf(column);
      if (kind) return [column, kind];
      throw new CopyRefusal(
        `${table.name}.${column.name} has the type ${column.sqlType}, which the copy does not know: it could not tell whether both ` +
          'databases store the same. Write a migration that makes it text, or copy the table yourself (--leave-out).',
      );
    });
  }

  /** The row as PostgreSQL reads it, which is added to the sum; or what is wrong with it. */
  carry(row: RawRow): CarriedRow | RowFault[] {
    const faults: RowFault[] = [];
    const carried: (string | null)[] = [];
    const compared: (string | null)[] = [];
    for (const [at, [column, kind]] of this.kinds.entries()) {
      const raw = row[at] ?? null;
      const text = raw === null ? nothing(column) : kind.carry(raw, column);
      if (text instanceof ValueFault) faults.push({ at, fault: text });
      else {
        carried.push(text);
        compared.push(text === null || !kind.compared ? text : kind.compared(text));
      }
    }
    if (faults.length > 0) return faults;
    this.sum.add(compared);
    return carried;
  }

  /** Of all rows that were carried. */
  get total(): TableSum {
    return this.sum.total;
  }
}

/** Whether a row could not be carried. */
export function isFaulty(carried: CarriedRow | RowFault[]): carried is RowFault[] {
  return typeof carried[0] === 'object' && carried[0] !== null;
}

function nothing({ isRequired }: TargetColumn): null | ValueFault {
  return isRequired ? new ValueFault('is NULL, which the column does not allow; give it a value') : null;
}
