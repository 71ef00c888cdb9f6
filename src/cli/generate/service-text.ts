import type { FeatureOperation, FeaturePlan, PlannedField } from './feature-plan.js';
import { EVENT, changingState, constantOf } from './resource-texts.js';
import { anOrA, enumName, valuesName } from './table-texts.js';

/** The service of a feature: what its operations do. */
export function serviceText(plan: FeaturePlan): string {
  const { entity, plural, many, manyWords, operations } = plan;
  const methods = [...operations].map((operation) => METHODS[operation](plan));
  const changes = operations.has('update') || operations.has('delete');
  const writes = operations.has('create') || changes;
  const isShown = operations.has('list') || operations.has('get') || changes;
  if (changes && !operations.has('get')) methods.push(getText(plan, 'private '));
  const state = changingState(plan);
  if (state) methods.push(changeStateText(plan, state));
  return `${state ? nextText(plan, state) : ''}
/** The ${manyWords}. */
@Injectable()
export class ${plural}Service {
  constructor(
    ${writes ? `@InjectRepository(${entity}) private readonly ${many}: Repository<${entity}>,` : ''}
    ${changes ? 'private readonly dataSource: DataSource,' : ''}
    ${isShown ? 'private readonly rows: JsonRows,' : ''}
    ${writesReferences(plan) ? 'private readonly references: References,' : ''}
    ${writes ? 'private readonly events: DomainEvents,' : ''}
  ) {}

${methods.join('\n')}
}
`;
}

type MethodText = (plan: FeaturePlan) => string;

const METHODS: Readonly<Record<FeatureOperation, MethodText>> = {
  list: ({ entity, manyWords }) => `
  /** A page of the ${manyWords}, filtered and ordered as the request says. */
  list(page: PageRequest): Promise<JsonPage<${entity}Dto>> {
    return this.rows.page(${entity}, ${entity}Dto, page);
  }`,
  create: (plan) => createText(plan),
  get: (plan) => getText(plan, ''),
  update: (plan) => updateText(plan),
  delete: ({ entity, many, error, words }) => `
  /** Deletes ${anOrA(words)}. Throws ${error}_not_found and precondition_failed. */
  delete(id: bigint, precondition: Precondition): Promise<void> {
    return this.dataSource.transaction(async () => {
      precondition.check(${entity}Dto, await this.get(id));
      await this.${many}.delete({ id });
      this.events.publish(${constantOf(error)}_${EVENT.delete}, { id });
    });
  }`,
};

function createText(plan: FeaturePlan): string {
  const { entity, one, many, error, words, sent, state } = plan;
  const optional = sent.filter(({ isOptional }) => isOptional).map(({ property }) => property);
  const given =
    optional.length === 0 ? one : `{ ${optional.map((name) => `${name} = null`).join(', ')}, ...${one} }`;
  const values = [...optional, ...(state ? [`${state.property}: '${state.initial}'`] : [])];
  const row = values.length === 0 ? one : `{ ...${one}, ${values.join(', ')} }`;
  return `
  ${commented(`Adds ${anOrA(words)}; once the request is answered it is on disk.`, [], plan)}
  async create(${given}: New${entity}): Promise<${entity}> {
    const row = this.${many}.create(${row});
    ${written(plan, 'row', `this.${many}.insert(row)`)}
    this.events.publish(${constantOf(error)}_${EVENT.create}, row);
    return row;
  }`;
}

function updateText(plan: FeaturePlan): string {
  const { entity, many, error, words } = plan;
  const state = changingState(plan);
  const patch = state ? '{ state, ...fields }' : 'patch';
  const fields = state ? 'fields' : 'patch';
  const write = written(plan, fields, `this.${many}.update({ id }, ${fields})`);
  const publish = `this.events.publish(${constantOf(error)}_${EVENT.update}, { id });`;
  const changes = state
    ? `const isChanged = Object.keys(fields).length > 0;
      if (isChanged) ${write}
      if (state !== undefined) await this.changeState(id, state);
      if (isChanged || state !== undefined) ${publish}`
    : `// A patch without a field changes nothing of the ${words}.
      if (Object.keys(patch).length > 0) {
        ${write}
        ${publish}
      }`;
  return `
  ${commented('Changes the fields that the patch has.', [`${error}_not_found`, 'precondition_failed', ...(state ? [`${error}_state_conflict`] : [])], plan)}
  update(id: bigint, ${patch}: ${entity}Patch, precondition: Precondition): Promise<JsonText<${entity}Dto>> {
    return this.dataSource.transaction(async () => {
      precondition.check(${entity}Dto, await this.get(id));
      ${changes}
      return this.get(id);
    });
  }`;
}

function getText({ entity, constant, one, error, words }: FeaturePlan, modifier: string): string {
  return `
  /** The ${words} with this id; throws ${error}_not_found when there is none. */
  ${modifier}async get(id: bigint): Promise<JsonText<${entity}Dto>> {
    const ${one} = await this.rows.one(${entity}, ${entity}Dto, id);
    if (!${one}) throw new ApiError(${constant}_ERRORS.${error}_not_found, { params: { ${one}Id: String(id) } });
    return ${one};
  }`;
}

/** Whether rows are written that refer to others. */
function writesReferences({ fields, operations }: FeaturePlan): boolean {
  return (
    (operations.has('create') || operations.has('update')) &&
    fields.some(({ references }) => references !== undefined)
  );
}

/** A statement that writes a row, and tells which of its fields refer to nothing. */
function written(plan: FeaturePlan, row: string, write: string): string {
  return writesReferences(plan)
    ? `await this.references.write(${plan.entity}, ${row}, () => ${write});`
    : `await ${write};`;
}

/** The comment of a method that writes: what it does, and on a line of its own what it throws. */
function commented(text: string, errors: readonly string[], plan: FeaturePlan): string {
  const all = [
    ...errors,
    ...(writesReferences(plan) ? ['validation_failed for a reference to nothing'] : []),
  ];
  if (all.length === 0) return `/** ${text} */`;
  const thrown = `Throws ${all.slice(0, -1).join(', ')}${all.length > 1 ? ' and ' : ''}${all.at(-1)}.`;
  return `/**\n   * ${text}\n   * ${thrown}\n   */`;
}

/** The table of the ways from state to state: each can become those behind it. */
function nextText({ entity, words }: FeaturePlan, state: PlannedField): string {
  const { values = [] } = state;
  const type = enumName(entity, state);
  const rows = values.map(
    (value, at) =>
      `${value}: [${values
        .slice(at + 1)
        .map((next) => `'${next}'`)
        .join(', ')}],`,
  );
  return `
/** What the state of ${anOrA(words)} can become; without a way onwards it is final. */
const NEXT: Readonly<Record<${type}, readonly ${type}[]>> = {
${rows.join('\n')}
};
`;
}

function changeStateText(
  { entity, constant, one, many, error, words }: FeaturePlan,
  state: PlannedField,
): string {
  return `
  /**
   * Takes ${anOrA(words)} to another state, if a way leads there from the one that it has: in one statement, so that nothing comes
   * between the look and the change. The state that it has already changes nothing. Throws ${error}_state_conflict.
   */
  private async changeState(id: bigint, to: ${enumName(entity, state)}): Promise<void> {
    const before = ${valuesName(entity, state)}.filter((state) => state === to || NEXT[state].includes(to));
    const { affected } = await this.${many}.update({ id, state: In(before) }, { state: to });
    if (affected !== 0) return;
    const { state: from } = await this.${many}.findOneByOrFail({ id });
    throw new ApiError(${constant}_ERRORS.${error}_state_conflict, { params: { ${one}Id: String(id), from, to } });
  }`;
}
