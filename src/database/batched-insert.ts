import { LRUCache } from 'lru-cache';
import { type EntityMetadata, InsertResult, type ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Dialect } from './dialect.js';

/** Maximum number of INSERTs of an entity that are cached. */
const MAX_INSERTS = 100;

/** A row returned by an INSERT: its id, which is text on SQLite. */
export type ReturnedRow = Readonly<Record<string, unknown>>;

/** An INSERT of any number of rows that give values for the same columns. */
export class BatchedInsert {
  /** Its only parameter is the JSON text of the rows. */
  readonly sql: string;
  /** The statement that commits on its own. On SQLite, its second parameter is the definition of the plain table. */
  readonly plainSql: string;
  readonly idName: string;

  constructor(
    readonly metadata: EntityMetadata,
    private readonly id: ColumnMetadata,
    columns: readonly ColumnMetadata[],
    dialect: Dialect,
  ) {
    this.idName = id.databaseName;
    const names = columns.map(({ databaseName }) => databaseName);
    this.sql = dialect.insertFromJson(metadata.tableName, names, this.idName);
    this.plainSql = dialect.plainInserts.insertFromJson(metadata.tableName, names, this.idName);
  }

  /** Sets the id of a row and returns the same result as `manager.insert()`. */
  resultOf(row: ObjectLiteral, returned: ReturnedRow): InsertResult {
    const { driver } = this.metadata.connection;
    const generated = driver.createGeneratedMap(this.metadata, returned, 0, 1) ?? {};
    this.id.setEntityValue(row, this.id.getEntityValue(generated));
    const result = new InsertResult();
    result.raw = [returned];
    result.generatedMaps = [generated];
    result.identifiers = [this.metadata.getEntityIdMap(row) ?? {}];
    return result;
  }
}

/** A row as JSON, and the INSERT for its columns. */
export interface PreparedRow {
  readonly insert: BatchedInsert;
  readonly json: string;
}

/** The INSERTs of an entity whose columns hold plain values and whose only generated column is an auto-increment id. */
export class BatchedInserts {
  /** By the names of the columns that the rows give. */
  private readonly inserts = new LRUCache<string, BatchedInsert>({ max: MAX_INSERTS });

  private constructor(
    private readonly metadata: EntityMetadata,
    private readonly id: ColumnMetadata,
    private readonly columns: readonly ColumnMetadata[],
    private readonly dialect: Dialect,
  ) {}

  /** Undefined for an entity whose rows TypeORM must insert. */
  static of(metadata: EntityMetadata, dialect: Dialect): BatchedInserts | undefined {
    const [id, ...others] = metadata.generatedColumns;
    const columns = metadata.columns.filter((column) => column !== id);
    if (!id || !isAutoIncrement(id) || others.length > 0 || columns.length === 0) return undefined;
    if (!hasPlainTable(metadata) || !columns.every(storesPlainValues)) return undefined;
    return new BatchedInserts(metadata, id, columns, dialect);
  }

  /** Undefined if TypeORM must insert the row, because it has an id already or a value that JSON cannot represent. */
  prepare(row: ObjectLiteral): PreparedRow | undefined {
    if (this.id.getEntityValue(row) !== undefined) return undefined;
    const { driver } = this.metadata.connection;
    const given: ColumnMetadata[] = [];
    const members: string[] = [];
    for (const column of this.columns) {
      const value: unknown = column.getEntityValue(row);
      // An SQL expression.
      if (typeof value === 'function') return undefined;
      const stored: unknown = driver.preparePersistentValue(value, column);
      // The entity declares no default, but the table may have one.
      if (stored === undefined && this.dialect.hasDefaultKeyword) continue;
      const json = jsonOf(stored ?? null);
      if (json === undefined) return undefined;
      given.push(column);
      members.push(`${JSON.stringify(column.databaseName)}:${json}`);
    }
    return given.length === 0 ? undefined : { insert: this.insertOf(given), json: `{${members.join(',')}}` };
  }

  private insertOf(columns: readonly ColumnMetadata[]): BatchedInsert {
    const key = columns.map(({ databaseName }) => databaseName).join('\0');
    let insert = this.inserts.get(key);
    if (!insert) {
      insert = new BatchedInsert(this.metadata, this.id, columns, this.dialect);
      this.inserts.set(key, insert);
    }
    return insert;
  }
}

/**
 * Whether an insert stores only the row's values and a generated key: no listeners run, and TypeORM reads no columns back. Triggers are
 * looked up by table name, so the table must be in the main database file.
 */
function hasPlainTable(metadata: EntityMetadata): boolean {
  return (
    metadata.tableType === 'regular' &&
    metadata.tablePath === metadata.tableName &&
    !metadata.tableName.includes('.') &&
    metadata.inheritancePattern === undefined &&
    metadata.treeType === undefined &&
    metadata.beforeInsertListeners.length === 0 &&
    metadata.afterInsertListeners.length === 0 &&
    metadata.getInsertionReturningColumns().every(({ isGenerated }) => isGenerated)
  );
}

/** Whether the database alone generates the id, without a transformer or a default. */
function isAutoIncrement(id: ColumnMetadata): boolean {
  const { driver } = id.entityMetadata.connection;
  const defaultValue: unknown = driver.preparePersistentValue(undefined, id);
  return (
    id.isPrimary &&
    id.generationStrategy === 'increment' &&
    id.default === undefined &&
    defaultValue === undefined
  );
}

/** Whether a column stores values unchanged. PostgreSQL reads text in JSON as a JSON string, never as an array. */
function storesPlainValues(column: ColumnMetadata): boolean {
  const { spatialTypes } = column.entityMetadata.connection.driver;
  const isOther = column.isArray || ['json', 'jsonb', ...spatialTypes].some((type) => type === column.type);
  return column.isInsert && !column.referencedColumn && !column.generatedType && !isOther;
}

/** Only 32-bit integers, which sqlite3 binds as integers, and bigints. SQLite truncates text in JSON at a NUL. */
function jsonOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  const isPreserved =
    value === null ||
    (typeof value === 'number' && (value | 0) === value) ||
    (typeof value === 'string' && !value.includes('\0') && value.isWellFormed());
  return isPreserved ? JSON.stringify(value) : undefined;
}
