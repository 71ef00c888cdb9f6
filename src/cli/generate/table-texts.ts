import type { FeaturePlan, PlannedField } from './feature-plan.js';

/** The entity of a feature, and the values of its enumerations. */
export function entityText(plan: FeaturePlan): string {
  const { entity, table, words, fields } = plan;
  const checks = fields.filter((field) => field.values !== undefined);
  return `
${checks.map((field) => valuesText(entity, words, field)).join('\n')}
/** ${anOrA(words, true)}. */
@Entity('${table}')
${checks.map((field) => `@Check('${checkName(table, field)}', ${checkText(field)})`).join('\n')}
${indexesOf(plan)
  .map(
    (index) =>
      `@Index('${indexName(table, index)}', [${index.map(({ property }) => `'${property}', `).join('')}'id'])`,
  )
  .join('\n')}
export class ${entity} {
  @Int64Key()
  id!: bigint;

${fields.map((field) => columnText(entity, table, field)).join('\n\n')}
}
`;
}

/** The migration that makes the table of a feature; its class name ends in a time in milliseconds. */
export function tableMigrationText(plan: FeaturePlan, time: number): string {
  const { plural, table, manyWords, fields } = plan;
  const checks = fields.filter((field) => field.values !== undefined);
  const keys = fields.filter((field) => field.references !== undefined);
  return `
/** Table of the ${manyWords}. */
export class ${plural}${time} implements MigrationInterface {
  readonly onlyExpands = true;

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
        ${listOf('indices', indexesOf(plan), (index) => `{ name: '${indexName(table, index)}', columnNames: [${index.map(({ columnName }) => `'${columnName}', `).join('')}'id'] }`)}
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

/**
 * The fields of each index, which ends with the id: one for each filter of the list, and one for a reference together with the
 * state, by which things are mostly looked for. Without a list a reference keeps its own: what it refers to is deleted by it.
 */
function indexesOf(plan: FeaturePlan): (readonly PlannedField[])[] {
  const { fields, operations } = plan;
  const single = fields.filter(
    (field) => field.references !== undefined || (operations.has('list') && isFilter(field)),
  );
  return [...single.map((field) => [field]), ...searchedTogether(plan)];
}

/** The filters of the list that one index answers together: each reference with the state. */
export function searchedTogether({ fields, state, operations }: FeaturePlan): [PlannedField, PlannedField][] {
  if (!state || !operations.has('list')) return [];
  return fields
    .filter(({ references }) => references !== undefined)
    .map((field): [PlannedField, PlannedField] => [field, state]);
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

function listOf<Part>(name: string, parts: readonly Part[], text: (part: Part) => string): string {
  return parts.length === 0 ? '' : `${name}: [${parts.map(text).join(', ')}],`;
}

function checkText({ columnName, values = [] }: PlannedField): string {
  return `\`"${columnName}" IN (${values.map((value) => `'${value}'`).join(', ')})\``;
}

function checkName(table: string, { columnName }: PlannedField): string {
  return `${table}_${columnName}_allowed`;
}

function indexName(table: string, index: readonly PlannedField[]): string {
  return [table, ...index.map(({ columnName }) => columnName), 'id'].join('_');
}

function keyName(table: string, { columnName }: PlannedField): string {
  return `${table}_${columnName}_key`;
}
