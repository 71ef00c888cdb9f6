import type { FeatureOperation, FeaturePlan, PlannedField } from './feature-plan.js';
import { EVENT, constantOf } from './resource-texts.js';
import { anOrA } from './table-texts.js';

/** The service of a feature: what its operations do. */
export function serviceText(plan: FeaturePlan): string {
  const { entity, plural, many, manyWords, operations } = plan;
  const methods = [...operations].map((operation) => METHODS[operation](plan));
  const reads = operations.has('update') || operations.has('delete') ? [privateGet(plan)] : [];
  const writes = reads.length > 0;
  const isShown = operations.has('list') || operations.has('get') || writes;
  return `
/** The ${manyWords}. */
@Injectable()
export class ${plural}Service {
  constructor(
    ${operations.has('create') || writes ? `@InjectRepository(${entity}) private readonly ${many}: Repository<${entity}>,` : ''}
    ${writes || referencesOf(plan).length > 0 ? 'private readonly dataSource: DataSource,' : ''}
    ${isShown ? 'private readonly rows: JsonRows,' : ''}
    ${operations.has('create') || writes ? 'private readonly events: DomainEvents,' : ''}
  ) {}

${[...methods, ...(operations.has('get') ? [] : reads), ...referenceChecks(plan)].join('\n')}
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
  update: (plan) => {
    const { entity, many, error, words } = plan;
    return `
  /** Changes the fields that the patch has. Throws ${error}_not_found and precondition_failed. */
  update(id: bigint, patch: ${entity}Patch, precondition: Precondition): Promise<JsonText<${entity}Dto>> {
    return this.dataSource.transaction(async () => {
      precondition.check(${entity}Dto, await this.get(id));
      ${referencesOf(plan)
        .map(
          (field) =>
            `if (typeof patch.${field.property} === 'bigint') await this.${checkName(field)}(patch.${field.property});`,
        )
        .join('\n')}
      // A patch without a field changes nothing of the ${words}.
      if (Object.keys(patch).length > 0) {
        await this.${many}.update({ id }, patch);
        this.events.publish(${constantOf(error)}_${EVENT.update}, { id });
      }
      return this.get(id);
    });
  }`;
  },
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
  const { entity, one, many, error, words, fields } = plan;
  const optional = fields.filter(({ isOptional }) => isOptional).map(({ property }) => property);
  const checks = referencesOf(plan).map((field) =>
    field.isOptional
      ? `if (${field.property} !== null) await this.${checkName(field)}(${field.property});`
      : `await this.${checkName(field)}(${one}.${field.property});`,
  );
  const given =
    optional.length === 0 ? one : `{ ${optional.map((name) => `${name} = null`).join(', ')}, ...${one} }`;
  const row = optional.length === 0 ? one : `{ ...${one}, ${optional.join(', ')} }`;
  return `
  /** Adds ${anOrA(words)}; once the request is answered it is on disk. */
  async create(${given}: New${entity}): Promise<${entity}> {
    ${checks.join('\n')}
    const row = this.${many}.create(${row});
    await this.${many}.insert(row);
    this.events.publish(${constantOf(error)}_${EVENT.create}, row);
    return row;
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

const privateGet: MethodText = (plan) => getText(plan, 'private ');

/** The fields that hold keys of other tables. */
function referencesOf({ fields }: FeaturePlan): readonly PlannedField[] {
  return fields.filter(({ references }) => references !== undefined);
}

function checkName({ property }: PlannedField): string {
  return `check${property.charAt(0).toUpperCase()}${property.slice(1)}`;
}

function referenceChecks(plan: FeaturePlan): string[] {
  if (!plan.operations.has('create') && !plan.operations.has('update')) return [];
  return referencesOf(plan).map(
    (field) => `
  /** Throws validation_failed when \`${field.references}\` has no row with this id. */
  private async ${checkName(field)}(id: bigint): Promise<void> {
    if (await this.dataSource.getRepository('${field.references}').existsBy({ id })) return;
    const message = \`There is nothing with the id \${id} to refer to.\`;
    throw new ApiError(HTTP_ERRORS.validation_failed, {
      details: [{ field: '${field.property}', code: 'unknown_reference', message }],
    });
  }`,
  );
}
