import { TypeORMError } from 'typeorm';

/** Matches statements whose first words, after comments and parentheses, are among these. */
export function startsWith(keywords: string): RegExp {
  return new RegExp(`^(?:[\\s(]|--[^\\n]*\\n|/\\*(?:[^*]|\\*(?!/))*\\*/)*(${keywords})\\b`, 'is');
}

const READS = startsWith(
  'SELECT|VALUES|TABLE|SHOW|EXPLAIN|SET|WITH(?!.*\\b(?:INSERT|UPDATE|DELETE|MERGE|REPLACE\\s+INTO)\\b)',
);

/** Whether a statement starts like one that only reads. On PostgreSQL, a function that it calls may still write. */
export function onlyReads(sql: string): boolean {
  return READS.test(sql);
}

const COMMAND = startsWith('[a-z]+');
/** Parts of a statement that contain no keywords. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*.*?\*\//gs;
const IN_PARENTHESES = /\([^()]*\)/g;
const AFTER_WITH = /\b(?:SELECT|VALUES|INSERT|REPLACE|UPDATE|DELETE)\b/i;

/** The command of a statement, such as `UPDATE`, even after comments and WITH; empty if there is none. */
export function commandOf(sql: string): string {
  const keyword = COMMAND.exec(sql)?.[1]?.toUpperCase() ?? '';
  if (keyword !== 'WITH') return keyword;
  let text = '';
  for (let next = sql.replace(QUOTED, ' '); next !== text; next = text.replace(IN_PARENTHESES, ' '))
    text = next;
  return AFTER_WITH.exec(text)?.[0].toUpperCase() ?? keyword;
}

/** Whether a statement that writes returns rows. */
export function isReturning(sql: string): boolean {
  return RETURNING.test(sql) && RETURNING.test(sql.replaceAll(QUOTED, ''));
}

const RETURNING = /\bRETURNING\b/i;

/** The error for a statement that starts a transaction, because writes of others on the same connection would be rolled back with it. */
export function manualTransactionError(): TypeORMError {
  return new TypeORMError(
    'query() cannot begin a transaction. Use transaction(), or startTransaction() of a query runner.',
  );
}
