import { type EntityMetadata, InsertResult, type ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Dialect } from './dialect.js';

/** The result of the database for a row: its id, on SQLite as text. */
export type ToldRow = Readonly<Record<string, unknown>>;

/** The INSERT of any number of rows of an entity whose columns are values and one id that the database counts. */
export class BatchedInsert {
  /** Its only parameter is the JSON text of the rows. */
  readonly sql: string;
  readonly idName: string;

  private constructor(
    readonly metadata: EntityMetadata,
    private readonly id: ColumnMetadata,
    private readonly columns: readonly ColumnMetadata[],
    dialect: Dialect,
  ) {
    this.idName = id.databaseName;
    const names = columns.map(({ databaseName }) => databaseName);
    this.sql = dialect.insertOfJson(metadata.tableName, names, this.idName);
  }

  /** Undefined where TypeORM has to insert the rows of an entity. */
  static of(metadata: EntityMetadata, dialect: Dialect): BatchedInsert | undefined {
    const [id, ...others] = metadata.generatedColumns;
    const columns = metadata.columns.filter((column) => column !== id);
    if (!id || !isCounted(id) || others.length > 0 || columns.length === 0) return undefined;
    if (!hasPlainTable(metadata) || !columns.every(isOfValues)) return undefined;
    return new BatchedInsert(metadata, id, columns, dialect);
  }

  /** A row as JSON; undefined when TypeORM has to insert it, because it brings its id or has a value that JSON does not keep. */
  jsonOf(row: ObjectLiteral): string | undefined {
    if (this.id.getEntityValue(row) !== undefined) return undefined;
    const { driver } = this.metadata.connection;
    const members: string[] = [];
    for (const column of this.columns) {
      const given: unknown = column.getEntityValue(row);
      // An SQL expression.
      if (typeof given === 'function') return undefined;
      // None has a default.
      const value = jsonOf(driver.preparePersistentValue(given, column) ?? null);
      if (value === undefined) return undefined;
      members.push(`${JSON.stringify(column.databaseName)}:${value}`);
    }
    return `{${members.join(',')}}`;
  }

  /** Sets the id of a row, and returns the result of `manager.insert()`. */
  resultOf(row: ObjectLiteral, told: ToldRow): InsertResult {
    const { driver } = this.metadata.connection;
    const generated = driver.createGeneratedMap(this.metadata, told, 0, 1) ?? {};
    this.id.setEntityValue(row, this.id.getEntityValue(generated));
    const result = new InsertResult();
    result.raw = [told];
    result.generatedMaps = [generated];
    result.identifiers = [this.metadata.getEntityIdMap(row) ?? {}];
    return result;
  }
}

/**
 * Whether nothing but the row's own values and a generated key is stored of a row, and nothing else happens: no listener runs and TypeORM
 * reads no column back. The triggers of a table are looked for by its name: it must be one of the file itself.
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

/** Whether the database counts an id, and nothing else makes one: SQLite's INSERT by TypeORM has what a transformer or default makes. */
function isCounted(id: ColumnMetadata): boolean {
  const { driver } = id.entityMetadata.connection;
  const made: unknown = driver.preparePersistentValue(undefined, id);
  return (
    id.isPrimary && id.generationStrategy === 'increment' && id.default === undefined && made === undefined
  );
}

/** Whether a column is given a value as it is. In JSON, PostgreSQL takes a text for a JSON string, and for no array. */
function isOfValues(column: ColumnMetadata): boolean {
  const { spatialTypes } = column.entityMetadata.connection.driver;
  const isOther = column.isArray || ['json', 'jsonb', ...spatialTypes].some((type) => type === column.type);
  return column.isInsert && !column.referencedColumn && !column.generatedType && !isOther;
}

/** Integers of 32 bits, which sqlite3 binds as such, and larger ones as bigint; SQLite cuts a text of JSON at a NUL. */
function jsonOf(value: unknown): string | undefined {
  if (typeof value === 'bigint') return value.toString();
  const isKept =
    value === null ||
    (typeof value === 'number' && (value | 0) === value) ||
    (typeof value === 'string' && !value.includes('\0') && value.isWellFormed());
  return isKept ? JSON.stringify(value) : undefined;
}
