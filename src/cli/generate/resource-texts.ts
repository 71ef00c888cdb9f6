import type { FeatureOperation, FeaturePlan, PlannedField } from './feature-plan.js';
import { anOrA, enumName, isFilter, typeOf, valuesName } from './table-texts.js';

/** What each operation does, for the scope that it needs. */
const RIGHTS: Readonly<Record<FeatureOperation, 'read' | 'write'>> = {
  list: 'read',
  get: 'read',
  create: 'write',
  update: 'write',
  delete: 'write',
};
const DONE: Readonly<Record<FeatureOperation, string>> = {
  list: 'List',
  get: 'fetch',
  create: 'Add',
  update: 'change',
  delete: 'delete',
};

/** The scopes of a feature. */
export function scopesText({ constant, feature, manyWords, operations }: FeaturePlan): string {
  const rights = (['read', 'write'] as const).flatMap((right) => {
    const done = [...operations].filter((one) => RIGHTS[one] === right).map((one) => DONE[one]);
    return done.length === 0 ? [] : [`${right}: '${capitalized(listed(done))} ${manyWords}.',`];
  });
  const names = rights.map((text) => `\`${feature}:${text.split(':')[0]}\``).join(' and ');
  return `
/** The rights on ${manyWords}: ${names}. */
export const ${constant}_SCOPES = defineScopes('${feature}', { ${rights.join(' ')} });
`;
}

/** The errors of a feature. */
export function errorsText({ constant, error, one, words, manyWords, operations }: FeaturePlan): string {
  const remedy = operations.has('list')
    ? `List the ${manyWords} to see their ids.`
    : `Use the id that adding ${anOrA(words)} answered.`;
  return `
export const ${constant}_ERRORS = defineErrors({
  ${error}_not_found: {
    status: 404,
    message: 'There is no ${words} with the id {${one}Id}.',
    cause: 'No ${words} has this id.',
    remedy: '${remedy}',
  },
});
`;
}

/** The events of a feature: one for each kind of write that it has. */
export function eventsText({ entity, error, words, fields, operations }: FeaturePlan): string {
  const shown = fields.map(
    (field) => `readonly ${field.property}: ${typeOf(entity, field)}${field.isOptional ? ' | null' : ''};`,
  );
  const created = `
/** ${anOrA(words, true)} that was added. */
export interface ${entity}Created { readonly id: bigint; ${shown.join(' ')} }

/** ${anOrA(words, true)} was added. */
export const ${constantOf(error)}_CREATED = defineEvent<${entity}Created>('${error}.created');
`;
  const others = (['update', 'delete'] as const).filter((one) => operations.has(one));
  const changed =
    others.length === 0
      ? ''
      : `
/** Which ${words} was ${others.map((one) => PAST[one]).join(' or ')}. */
export interface ${entity}Changed { readonly id: bigint; }
`;
  const consts = others.map(
    (one) => `
/** ${anOrA(words, true)} was ${PAST[one]}. */
export const ${constantOf(error)}_${EVENT[one]} = defineEvent<${entity}Changed>('${error}.${EVENT[one].toLowerCase()}');
`,
  );
  return `${operations.has('create') ? created : ''}${changed}${consts.join('')}`;
}

const PAST = { update: 'changed', delete: 'deleted' } as const;

/** What the names of events end in. */
export const EVENT = { create: 'CREATED', update: 'UPDATED', delete: 'DELETED' } as const;

/** A name in snake_case as a constant. */
export function constantOf(name: string): string {
  return name.toUpperCase();
}

/** The bodies, queries, parameters and answers of a feature. */
export function dtoText(plan: FeaturePlan): string {
  const { entity, plural, one, words, manyWords, fields, operations } = plan;
  const list = `
/** Query of list${plural}. */
export class List${plural}Query extends PageQuery {
  ${fields
    .filter(isFilter)
    .map((field) => filterText(plan, field))
    .join('\n\n')}

  @Sort({ by: ['id', '-id'] })
  sort?: string;
}
`;
  const params = `
/** Path parameters of the operations on one ${words}. */
export class ${entity}Params {
  @Int64({ description: 'The identifier of the ${words}', example: 1 })
  ${one}Id!: bigint;
}
`;
  const patch = `
/** Body of update${entity}: any of the fields; null removes one that may be absent. */
@ApiSchema({ name: '${entity}Patch', description: 'What to change of ${anOrA(words)}.' })
export class ${entity}Patch extends MergePatch(New${entity}) {}
`;
  const single = (['get', 'update', 'delete'] as const).some((operation) => operations.has(operation));
  return `
/** ${operations.has('create') ? `Body of create${entity}` : `The fields of ${anOrA(words)}`}. */
@ApiSchema({ name: 'New${entity}', description: '${anOrA(words, true)} to add.' })
export class New${entity} {
  ${fields.map((field) => fieldText(plan, field)).join('\n\n')}
}

/** ${anOrA(words, true)} as returned. */
@ApiSchema({ name: '${entity}', description: 'One of the ${manyWords}.' })
export class ${entity}Dto extends New${entity} {
  @Int64({ description: 'Identifier assigned by the service', example: 1 })
  id!: bigint;
}
${operations.has('update') ? patch : ''}${operations.has('list') ? list : ''}${single ? params : ''}`;
}

function fieldText({ entity, words }: FeaturePlan, field: PlannedField): string {
  const { property, isOptional, fallback, samples, values } = field;
  const description = `The ${wordsOf(property)} of the ${words}`;
  const options = [
    ...(values === undefined ? [] : [`enumName: '${enumName(entity, field)}'`]),
    ...(values === undefined ? [] : [`values: ${valuesName(entity, field)}`]),
    `description: '${description}'`,
    ...(values === undefined && !['Instant', 'Uuid'].includes(field.decorator)
      ? [`example: ${literal(samples[0])}`]
      : []),
    ...Object.entries(field.options).map(([name, value]) => `${name}: ${value}`),
    ...(fallback === undefined ? [] : [`default: '${fallback}'`]),
    ...(isOptional ? ['optional: true', 'nullable: true'] : []),
  ];
  const type = typeOf(entity, field);
  return `@${field.decorator}({ ${options.join(', ')} })
  ${property}${isOptional ? '?' : '!'}: ${type}${isOptional ? ' | null' : ''};`;
}

function filterText({ entity, manyWords }: FeaturePlan, field: PlannedField): string {
  const { property, decorator, values } = field;
  const type = typeOf(entity, field);
  const isEnum = values !== undefined;
  const options = [
    ...(isEnum ? [`enumName: '${enumName(entity, field)}'`, `values: ${valuesName(entity, field)}`] : []),
    `description: 'Only ${manyWords} ${isEnum ? `of one of these values of \`${property}\`` : `with this ${wordsOf(property)}`}'`,
    ...(isEnum ? ['list: true'] : []),
    'optional: true',
  ];
  return `@Filter()
  @${decorator}({ ${options.join(', ')} })
  ${property}?: ${type}${isEnum ? '[]' : ''};`;
}

/** A value as TypeScript, and as JSON within it. */
export function literal(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`;
}

/** A property in words: \`adopterName\` as \`adopter name\`. */
function wordsOf(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
