import { type EntityMetadata, InsertResult, type ObjectLiteral, type QueryRunner } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { QueryResult } from 'typeorm/query-runner/QueryResult.js';

/** The integers that sqlite3 binds as such, and others as doubles; TypeORM writes every number into a statement for SQLite. */
const [LEAST_BOUND, MOST_BOUND] = [-(2 ** 31), 2 ** 31 - 1] as const;

/** Made once for each entity; null for those that TypeORM inserts. */
const KNOWN = new WeakMap<EntityMetadata, PlainInsert | null>();

/**
 * The INSERT of an entity whose columns are values and one id that the database counts, only for rows that GroupedInserts takes. It does what
 * TypeORM's query builder does for them, which takes a sixth of the processor time of a POST: it searches the text that it has
 * written for the names of its values.
 */
export class PlainInsert {
  private constructor(
    private readonly metadata: EntityMetadata,
    private readonly id: ColumnMetadata,
    private readonly columns: readonly ColumnMetadata[],
  ) {}

  /** Undefined where TypeORM has to insert the rows of an entity. */
  static of(metadata: EntityMetadata): PlainInsert | undefined {
    let known = KNOWN.get(metadata);
    if (known === undefined) {
      const [id, ...others] = metadata.generatedColumns;
      const columns = metadata.columns.filter((column) => column !== id);
      const isPlain = id !== undefined && isCounted(id) && others.length === 0 && columns.length > 0;
      known = isPlain && columns.every(isOfValues) ? new PlainInsert(metadata, id, columns) : null;
      KNOWN.set(metadata, known);
    }
    return known ?? undefined;
  }

  /**
   * Inserts rows and sets their ids, as `manager.insert()` does, and answers what it answers. Undefined, and nothing is done, when a
   * row has a value that TypeORM must write.
   */
  async insert(runner: QueryRunner, rows: readonly ObjectLiteral[]): Promise<InsertResult | undefined> {
    const values = this.valuesOf(rows);
    if (!values) return undefined;
    const { raw } = (await runner.query(this.textFor(rows.length), values, true)) as QueryResult<unknown>;
    const { driver } = this.metadata.connection;
    const result = new InsertResult();
    result.raw = raw;
    for (const [index, row] of rows.entries()) {
      const told: unknown = Array.isArray(raw) ? raw[index] : raw;
      const generated = driver.createGeneratedMap(this.metadata, told, index, rows.length) ?? {};
      const id: unknown = this.id.getEntityValue(generated);
      if (id !== undefined) this.id.setEntityValue(row, id);
      result.generatedMaps.push(generated);
      result.identifiers.push(this.metadata.getEntityIdMap(row) ?? {});
    }
    return result;
  }

  /** The values of all rows in the order of the parameters; undefined if TypeORM must write one. */
  private valuesOf(rows: readonly ObjectLiteral[]): unknown[] | undefined {
    const { driver } = this.metadata.connection;
    const values: unknown[] = [];
    for (const row of rows)
      for (const column of this.columns) {
        const value: unknown = driver.preparePersistentValue(column.getEntityValue(row), column);
        if (!isBound(value)) return undefined;
        values.push(value);
      }
    return values;
  }

  private textFor(count: number): string {
    const { driver } = this.metadata.connection;
    const names = this.columns.map(({ databaseName }) => driver.escape(databaseName)).join(', ');
    let at = 0;
    const row = () =>
      `(${this.columns.map(({ propertyName }) => driver.createParameter(propertyName, at++)).join(', ')})`;
    const rows = Array.from({ length: count }, row).join(', ');
    const table = this.metadata.tablePath
      .split('.')
      .map((part) => driver.escape(part))
      .join('.');
    const returning = driver.isReturningSqlSupported('insert')
      ? ` RETURNING ${driver.escape(this.id.databaseName)}`
      : '';
    return `INSERT INTO ${table}(${names}) VALUES ${rows}${returning}`;
  }
}

/** Whether the database counts an id, and nothing else makes one: SQLite's INSERT by TypeORM has what a transformer or default makes. */
function isCounted(id: ColumnMetadata): boolean {
  const { driver } = id.entityMetadata.connection;
  const made: unknown = driver.preparePersistentValue(undefined, id);
  return (
    id.isPrimary && id.generationStrategy === 'increment' && id.default === undefined && made === undefined
  );
}

/** Whether a column is given a value as it is, by a parameter. */
function isOfValues({
  entityMetadata,
  type,
  isInsert,
  referencedColumn,
  generatedType,
}: ColumnMetadata): boolean {
  const { spatialTypes } = entityMetadata.connection.driver;
  const isSpatial = typeof type === 'string' && spatialTypes.some((spatial) => spatial === type);
  return isInsert && referencedColumn === undefined && generatedType === undefined && !isSpatial;
}

function isBound(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isInteger(value) && value >= LEAST_BOUND && value <= MOST_BOUND;
  return (
    typeof value === 'string' || typeof value === 'bigint' || value === null || value instanceof Uint8Array
  );
}
