import type { DataSource } from 'typeorm';
import { inSpan, tracing } from '../core/tracing/spans.js';

/** The first word of a statement, such as SELECT. */
const OPERATION = /^\W*(\w{1,20})/;

/**
 * Runs a statement in a separate span where requests are traced, named by what it does. Neither its text nor its values are
 * there: modules write statements, too, and spans leave the machine.
 */
export function inStatementSpan<T>({ options }: DataSource, sql: string, run: () => T): T {
  if (!tracing()) return run();
  const operation = OPERATION.exec(sql)?.[1]?.toUpperCase() ?? 'statement';
  const system = options.type === 'postgres' ? 'postgresql' : 'sqlite';
  return inSpan(operation, 'CLIENT', { 'db.system.name': system, 'db.operation.name': operation }, run);
}
