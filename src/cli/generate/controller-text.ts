import type { FeatureOperation, FeaturePlan } from './feature-plan.js';
import { changingState } from './resource-texts.js';
import { anOrA } from './table-texts.js';

/** The controller of a feature. */
export function controllerText(plan: FeaturePlan): string {
  const { plural, many, feature, manyWords, operations } = plan;
  return `
@Tag('${capitalized(manyWords)}', 'The ${manyWords}.')
@Controller({ path: '${feature}', version: '1' })
export class ${plural}Controller {
  constructor(private readonly ${many}: ${plural}Service) {}

${[...operations].map((operation) => HANDLERS[operation](plan)).join('\n')}
}
`;
}

const HANDLERS: Readonly<Record<FeatureOperation, (plan: FeaturePlan) => string>> = {
  list: ({ entity, plural, many, constant, manyWords }) => `
  @Get()
  @RequireScopes(${constant}_SCOPES.read)
  @Cached({ ofRowsAlone: true })
  @Operation({
    id: 'list${plural}',
    summary: 'List ${manyWords}',
    description: 'Lists ${manyWords}, page by page.',
    answers: {
      status: 200,
      description: 'A page of ${manyWords}',
      arrayOf: ${entity}Dto,
      schemaName: '${plural}',
      optionalHeaders: NEXT_PAGE,
    },
  })
  list${plural}(@Query() query: List${plural}Query, @Paged() pager: Pager): Promise<JsonText<${entity}Dto[]>> {
    return pager.answer(query, (page) => this.${many}.list(page));
  }`,
  create: ({ entity, feature, many, one, constant, words, operations }) => `
  @Post()
  @RequireScopes(${constant}_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'create${entity}',
    summary: 'Add ${anOrA(words)}',
    description: 'Adds ${anOrA(words)} and answers it with the \`id\` assigned to it.',
    answers: {
      status: 201,
      description: 'The created ${words}',
      type: ${entity}Dto,
      ${operations.has('get') ? `location: ({ id }) => \`/v1/${feature}/\${id}\`,` : ''}
      ${operations.has('update') || operations.has('delete') ? 'entityTag: true,' : ''}
    },
  })
  create${entity}(@Body() ${one}: New${entity}): Promise<${entity}Dto> {
    return this.${many}.create(${one});
  }`,
  get: ({ entity, many, one, constant, error, words }) => `
  @Get(':${one}Id')
  @RequireScopes(${constant}_SCOPES.read)
  @Cached({ ofRowsAlone: true })
  @Operation({
    id: 'get${entity}',
    summary: 'Get ${anOrA(words)}',
    description: 'Fetches one ${words}.',
    answers: { status: 200, description: 'The ${words}', type: ${entity}Dto },
  })
  @ApiErrors(${constant}_ERRORS.${error}_not_found)
  get${entity}(@Param() { ${one}Id }: ${entity}Params): Promise<JsonText<${entity}Dto>> {
    return this.${many}.get(${one}Id);
  }`,
  update: (plan) => {
    const { entity, many, one, constant, error, words } = plan;
    const errors = ['not_found', ...(changingState(plan) ? ['state_conflict'] : [])];
    return `
  @Patch(':${one}Id')
  @RequireScopes(${constant}_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'update${entity}',
    summary: 'Change ${anOrA(words)}',
    description: 'Changes the fields that are sent; null removes one that may be absent (RFC 7396).',
    answers: { status: 200, description: 'The ${words} as it is now', type: ${entity}Dto, entityTag: true },
  })
  @ApiErrors(${errors.map((ending) => `${constant}_ERRORS.${error}_${ending}`).join(', ')})
  update${entity}(
    @Param() { ${one}Id }: ${entity}Params,
    @Body() patch: ${entity}Patch,
    @IfMatch() precondition: Precondition,
  ): Promise<JsonText<${entity}Dto>> {
    return this.${many}.update(${one}Id, patch, precondition);
  }`;
  },
  delete: ({ entity, many, one, constant, error, words }) => `
  @Delete(':${one}Id')
  @RequireScopes(${constant}_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'delete${entity}',
    summary: 'Delete ${anOrA(words)}',
    description: 'Deletes one ${words}.',
    answers: { status: 204, description: 'The ${words} is deleted' },
  })
  @ApiErrors(${constant}_ERRORS.${error}_not_found)
  delete${entity}(
    @Param() { ${one}Id }: ${entity}Params,
    @IfMatch({ optional: true }) precondition: Precondition,
  ): Promise<void> {
    return this.${many}.delete(${one}Id, precondition);
  }`,
};

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
