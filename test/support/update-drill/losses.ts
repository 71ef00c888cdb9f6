import type { Rows } from './drill.js';

type Row = Rows[string][number];

/** The changes that the service may make to a table. */
export interface Change {
  readonly columns?: readonly string[];
  /** Rows that the service may delete. */
  readonly isOver?: (row: Row) => boolean;
}

/** The rows that are missing or have a different value in a column that must not change. New tables, rows and columns are not losses. */
export function lostRows(
  before: Rows,
  after: Rows,
  changes: Readonly<Record<string, Change>> = {},
): string[] {
  return Object.entries(before).flatMap(([table, rows]) => {
    const { columns: changing = [], isOver = () => false } = changes[table] ?? {};
    if (after[table] === undefined) return [`${table}: the table`];
    const columns = Object.keys(rows[0] ?? {}).filter((column) => !changing.includes(column));
    const textOf = (row: Row) => JSON.stringify(columns.map((column) => row[column]));
    const left = new Set(after[table].map(textOf));
    const lost = rows
      .filter((row) => !isOver(row))
      .map(textOf)
      .filter((text) => !left.has(text));
    return lost.map((text) => `${table}: ${text}`);
  });
}

/** Report members whose values grow with each request, and members whose values or wording differ later. */
const GROWS = /^(?:used|requests|refused|calls|lastHour)$/;
const DIFFERS = /^(?:remaining|p50Ms|p99Ms|lastUsedAt|lastDay|description)$/;

/** The parts of a JSON document that a later one lacks. List elements may be in a different order, and new members are not losses. */
export function lostMembers(before: unknown, after: unknown, at = '$'): string[] {
  if (Array.isArray(before)) {
    const there: readonly unknown[] = Array.isArray(after) ? after : [];
    const isLost = (one: unknown) => !there.some((other) => lostMembers(one, other).length === 0);
    return before.filter(isLost).map((one) => `${at}[]: ${JSON.stringify(one)}`);
  }
  if (typeof before === 'object' && before !== null) {
    const there = (after ?? {}) as Record<string, unknown>;
    return Object.entries(before).flatMap(([name, value]) => {
      if (DIFFERS.test(name)) return name in there ? [] : [`${at}.${name}`];
      if (GROWS.test(name)) return Number(there[name]) >= Number(value) ? [] : [`${at}.${name}: ${value}`];
      return lostMembers(value, there[name], `${at}.${name}`);
    });
  }
  return before === after ? [] : [`${at}: ${JSON.stringify(before)}, now ${JSON.stringify(after)}`];
}
