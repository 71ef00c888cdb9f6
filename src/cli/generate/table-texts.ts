import type { FeaturePlan, PlannedField } from './feature-plan.js';

/** The entity of a feature, and the values of its enumerations. */
export function entityText({ entity, table, words, fields }: FeaturePlan): string {
  const checks = fields.filter((field) => field.values !== undefined);
  return `
${checks.map((field) => valuesText(entity, words, field)).join('\n')}
/** ${anOrA(words, true)}. */
@Entity('${table}')
${checks.map((field) => `@Check('${checkName(table, field)}', ${checkText(field)})`).join('\n')}
${fields
  .filter(isFilter)
  .map((field) => `@Index('${indexName(table, field)}', ['${field.property}', 'id'])`)
  .join('\n')}
export class ${entity} {
  @Int64Key()
  id!: bigint;

${fields.map((field) => columnText(entity, table, field)).join('\n\n')}
}
`;
}

/** The migration that makes the table of a feature; its class name ends in a time in milliseconds. */
export function tableMigrationText({ plural, table, manyWords, fields }: FeaturePlan, time: number): string {
  const checks = fields.filter((field) => field.values !== undefined);
  const indexed = fields.filter(isFilter);
  const keys = fields.filter((field) => field.references !== undefined);
  return `
/** Table of the ${manyWords}. */
export class ${plural}${time} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // SQLite numbers only an \`integer\` key by itself (it holds an int64 there); PostgreSQL's is 32 bits wide.
    const idType = runner.connection.options.type === 'sqlite' ? 'integer' : 'bigint';
    await runner.createTable(
      new Table({
        name: '${table}',
        columns: [
          { name: 'id', type: idType, isPrimary: true, isGenerated: true, generationStrategy: 'increment' },
          ${fields.map(migratedColumn).join('\n')}
        ],
        ${listOf('checks', checks, (field) => `{ name: '${checkName(table, field)}', expression: ${checkText(field)} }`)}
        ${listOf('indices', indexed, (field) => `{ name: '${indexName(table, field)}', columnNames: ['${field.columnName}', 'id'] }`)}
        ${listOf('foreignKeys', keys, (field) => `{ name: '${keyName(table, field)}', columnNames: ['${field.columnName}'], referencedTableName: '${field.references}', referencedColumnNames: ['id'] }`)}
      }),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('${table}');
  }
}
`;
}

/** Whether lists filter by the field, which needs an index: enumerations and keys of other tables. */
export function isFilter({ values, references }: PlannedField): boolean {
  return values !== undefined || references !== undefined;
}

/** The constant of an enumeration's values, such as `ADOPTION_STATES`. */
export function valuesName(entity: string, field: PlannedField): string {
  const name = enumName(entity, field)
    .replace(/(?<=[a-z0-9])[A-Z]/g, '_$&')
    .toUpperCase();
  return /(?:S|X|CH|SH)$/.test(name) ? `${name}ES` : `${name.replace(/(?<=[^AEIOU])Y$/, 'IE')}S`;
}

/** The type of an enumeration, and its name in the OpenAPI document, such as `AdoptionState`. */
export function enumName(entity: string, { property }: PlannedField): string {
  return entity + property.charAt(0).toUpperCase() + property.slice(1);
}

/** The TypeScript type of a field's value. */
export function typeOf(entity: string, field: PlannedField): string {
  return field.values === undefined ? field.type : enumName(entity, field);
}

/** The words with their article: `an adoption`. */
export function anOrA(words: string, isSentence = false): string {
  const article = /^[aeiou]/.test(words) ? 'an' : 'a';
  return `${isSentence ? article.replace('a', 'A') : article} ${words}`;
}

function valuesText(entity: string, words: string, field: PlannedField): string {
  const name = valuesName(entity, field);
  return `
/** Values of the ${field.property} of ${anOrA(words)}. */
export const ${name} = [${(field.values ?? []).map((value) => `'${value}'`).join(', ')}] as const;

/** One of these values. */
export type ${enumName(entity, field)} = (typeof ${name})[number];
`;
}

function columnText(entity: string, table: string, field: PlannedField): string {
  const { property, columnName, column, isOptional, references } = field;
  const options = [
    ...(property === columnName ? [] : [`name: '${columnName}'`]),
    ...(column.length === undefined ? [] : [`length: ${column.length}`]),
    ...(isOptional ? ['nullable: true'] : []),
  ];
  const all = options.length > 0 ? `{ ${options.join(', ')} }` : '';
  const decorator =
    field.type === 'bigint'
      ? `@Int64Column(${all})`
      : `@Column('${column.type}'${all === '' ? '' : `, ${all}`})`;
  const key =
    references === undefined ? '' : `@ForeignKey('${references}', { name: '${keyName(table, field)}' })\n`;
  return `${decorator}\n${key}${property}!: ${typeOf(entity, field)}${isOptional ? ' | null' : ''};`;
}

function migratedColumn({ columnName, column, isOptional }: PlannedField): string {
  const length = column.length === undefined ? '' : `, length: '${column.length}'`;
  return `{ name: '${columnName}', type: '${column.type}'${length}${isOptional ? ', isNullable: true' : ''} },`;
}

function listOf(
  name: string,
  fields: readonly PlannedField[],
  text: (field: PlannedField) => string,
): string {
  return fields.length === 0 ? '' : `${name}: [${fields.map(text).join(', ')}],`;
}

function checkText({ columnName, values = [] }: PlannedField): string {
  return `\`${columnName} IN (${values.map((value) => `'${value}'`).join(', ')})\``;
}

function checkName(table: string, { columnName }: PlannedField): string {
  return `${table}_${columnName}_allowed`;
}

function indexName(table: string, { columnName }: PlannedField): string {
  return `${table}_${columnName}_id`;
}

function keyName(table: string, { columnName }: PlannedField): string {
  return `${table}_${columnName}_key`;
}
