import type { FeaturePlan, PlannedField } from './feature-plan.js';
import { descriptionOf, wordsOf } from './field-words.js';
import { literal } from './resource-texts.js';
import { anOrA, enumName, isFilter, typeOf, valuesName } from './table-texts.js';

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
  const single = (['get', 'update', 'delete'] as const).some((operation) => operations.has(operation));
  return `
/** ${anOrA(words, true)} as returned. */
@ApiSchema({ name: '${entity}', description: 'One of the ${manyWords}.' })
export class ${entity}Dto {
  @Int64({ description: 'Identifier assigned by the service', example: 1 })
  id!: bigint;

  ${fields.map((field) => fieldText(plan, field)).join('\n\n')}
}
${operations.has('create') ? newText(plan) : ''}${operations.has('update') ? patchText(plan) : ''}${operations.has('list') ? list : ''}${single ? params : ''}`;
}

function newText({ entity, words, state }: FeaturePlan): string {
  return `
/** Body of create${entity}: ${state ? `a new ${words} has no id and no state` : 'what the service does not assign'}. */
@ApiSchema({ name: 'New${entity}', description: '${anOrA(words, true)} to add.' })
export class New${entity} extends OmitType(${entity}Dto, ['id'${state ? `, '${state.property}'` : ''}]) {}
`;
}

function patchText({ entity, words, state, operations }: FeaturePlan): string {
  const changed = operations.has('create') && !state ? `New${entity}` : `OmitType(${entity}Dto, ['id'])`;
  return `
/** Body of update${entity}: any of the fields; null removes one that may be absent. */
@ApiSchema({ name: '${entity}Patch', description: 'What to change of ${anOrA(words)}.' })
export class ${entity}Patch extends MergePatch(${changed}) {}
`;
}

function fieldText({ entity, words }: FeaturePlan, field: PlannedField): string {
  const { property, isOptional, samples, values } = field;
  const description = descriptionOf(property, words, field);
  const options = [
    ...(values === undefined ? [] : [`enumName: '${enumName(entity, field)}'`]),
    ...(values === undefined ? [] : [`values: ${valuesName(entity, field)}`]),
    `description: '${description}'`,
    ...(values === undefined && !['Instant', 'Uuid'].includes(field.decorator)
      ? [`example: ${literal(samples[0])}`]
      : []),
    ...Object.entries(field.options).map(([name, value]) => `${name}: ${value}`),
    ...(isOptional ? ['optional: true', 'nullable: true'] : []),
  ];
  const type = typeOf(entity, field);
  return `@${field.decorator}({ ${options.join(', ')} })
  ${property}${isOptional ? '?' : '!'}: ${type}${isOptional ? ' | null' : ''};`;
}

function filterText({ entity, manyWords }: FeaturePlan, field: PlannedField): string {
  const { property, decorator, values, initial } = field;
  const type = typeOf(entity, field);
  const isEnum = values !== undefined;
  const options = [
    ...(isEnum ? [`enumName: '${enumName(entity, field)}'`, `values: ${valuesName(entity, field)}`] : []),
    `description: 'Only ${manyWords} ${initial !== undefined ? 'in these states' : isEnum ? `with one of these values of \`${property}\`` : `with this ${wordsOf(property).join(' ')}`}'`,
    ...(isEnum ? ['list: true'] : []),
    'optional: true',
  ];
  return `@Filter()
  @${decorator}({ ${options.join(', ')} })
  ${property}?: ${type}${isEnum ? '[]' : ''};`;
}
