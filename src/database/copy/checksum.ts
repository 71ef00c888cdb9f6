import { hash } from 'node:crypto';
import { kindOf } from './column-kinds.js';
import type { TargetColumn, TargetTable } from './target-schema.js';

/** How many rows a table has, and a checksum of all of their values. */
export interface TableSum {
  readonly rows: number;
  /** 16 hexadecimal digits. */
  readonly checksum: string;
}

/** Hexadecimal digits of the SHA-256 of a row that are added up: 60 bits, a positive bigint of PostgreSQL. */
const DIGITS = 15;

/**
 * Adds rows up: the sum of the SHA-256 of each, cut to 60 bits. So the order of rows does not matter, which databases need not have
 * in common, and PostgreSQL computes the same sum where the rows are.
 */
export class RunningSum {
  private rows = 0;
  private sum = 0n;

  /** Adds a row, by the texts that its values are compared by. */
  add(compared: readonly (string | null)[]): void {
    let text = '';
    for (const value of compared) text += value === null ? 'N' : `${Buffer.byteLength(value)}:${value}`;
    this.rows += 1;
    this.sum += BigInt(`0x${hash('sha256', text, 'hex').slice(0, DIGITS)}`);
  }

  /** What it has come to. */
  get total(): TableSum {
    return { rows: this.rows, checksum: shown(this.sum) };
  }
}

/** A query of PostgreSQL: `rows` and `sum` of a table. */
export function sumSql({ name, columns }: TargetTable, quoted: (name: string) => string): string {
  const compared = (column: TargetColumn): string => {
    const text = kindOf(column)?.comparedSql(quoted(column.name), column) ?? 'NULL';
    return `coalesce(octet_length(${text}) || ':' || ${text}, 'N')`;
  };
  const row = `convert_to(${columns.map(compared).join(' || ')}, 'UTF8')`;
  return (
    `SELECT count(*)::text AS rows, ` +
    `coalesce(sum(('x' || substr(encode(sha256(${row}), 'hex'), 1, ${DIGITS}))::bit(${DIGITS * 4})::bigint), 0)::text AS sum ` +
    `FROM ${quoted(name)}`
  );
}

/** What the query answered. */
export function readSum({ rows, sum }: { readonly rows: string; readonly sum: string }): TableSum {
  return { rows: Number(rows), checksum: shown(BigInt(sum)) };
}

function shown(sum: bigint): string {
  return BigInt.asUintN(64, sum).toString(16).padStart(16, '0');
}
