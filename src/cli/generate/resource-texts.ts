import type { FeatureOperation, FeaturePlan, PlannedField } from './feature-plan.js';
import { anOrA, typeOf } from './table-texts.js';

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
export function errorsText(plan: FeaturePlan): string {
  const { constant, error, one, words, manyWords, operations } = plan;
  const remedy = operations.has('list')
    ? `List the ${manyWords} to see their ids.`
    : `Use the id that adding ${anOrA(words)} answered.`;
  const [first = '', last = first] = [plan.state?.values?.[0], plan.state?.values?.at(-1)];
  const conflict = `
  ${error}_state_conflict: {
    status: 409,
    message: 'The ${words} {${one}Id} is {from}, and cannot become {to}.',
    example: { ${one}Id: 5, from: '${last}', to: '${first}' },
    cause: 'From the state that the ${words} has, no way leads to the one that was sent.',
    remedy: '${operations.has('get') ? `Fetch the ${words} to see its state` : `Look at the state of the ${words}`}, and send one that can follow.',
  },`;
  return `
export const ${constant}_ERRORS = defineErrors({
  ${error}_not_found: {
    status: 404,
    message: 'There is no ${words} with the id {${one}Id}.',
    example: { ${one}Id: 5 },
    cause: 'No ${words} has this id.',
    remedy: '${remedy}',
  },${changingState(plan) ? conflict : ''}
});
`;
}

/** The field that an operation of the feature takes from state to state; undefined when there is none. */
export function changingState({ state, operations }: FeaturePlan): PlannedField | undefined {
  return operations.has('update') ? state : undefined;
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

/** A value as TypeScript, and as JSON within it. */
export function literal(value: string | number): string {
  return typeof value === 'number' ? String(value) : `'${value}'`;
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
