import { Body, Controller, Delete, Get, Injectable, Module, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, DataSource, DeleteDateColumn, Entity, Index, type Repository } from 'typeorm';
import { defineScopes } from '../../src/auth/scopes.js';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { IfMatch } from '../../src/http/replies/if-match.decorator.js';
import type { Precondition } from '../../src/http/replies/precondition.js';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { type JsonPage, JsonRows, type JsonText } from '../../src/database/json-rows.js';
import type { PageRequest } from '../../src/database/keyset-page.js';
import { ApiError } from '../../src/core/errors/api-error.js';
import { ApiErrors } from '../../src/core/errors/api-errors.decorator.js';
import { defineErrors } from '../../src/core/errors/define-errors.js';
import { Idempotent } from '../../src/http/idempotency/idempotent.decorator.js';
import { Enum, Instant, Int64, Text } from '../../src/http/validation/fields.js';
import { MergePatch } from '../../src/http/validation/merge-patch.js';
import { NEXT_PAGE, Operation, Tag } from '../../src/http/declarations/operation.decorator.js';
import { PageQuery, Paged, type Pager } from '../../src/http/paging/pager.js';
import { Filter, Sort } from '../../src/http/paging/selection.decorators.js';
import { addedTable } from './added-table.js';

// A module that a team might add: the visits of animals at a vet. docs/guides/writes.md quotes it.

export const VISITS_SCOPES = defineScopes('visits', { read: 'See visits.', write: 'Keep visits.' });

export const VISITS_ERRORS = defineErrors({
  visit_not_found: {
    status: 404,
    message: 'There is no visit with the id {visitId}.',
    cause: 'No visit has this id, or it was deleted.',
    remedy: 'List the visits to see their ids.',
  },
});

const STATES = ['requested', 'confirmed', 'done'] as const;
type VisitState = (typeof STATES)[number];

@Entity('visits')
@Index('visits_state_id', ['state', 'id'])
@Index('visits_starts_at', ['startsAt', 'id'])
@Index('visits_state_starts_at', ['state', 'startsAt', 'id'])
@Index('visits_price_cents', ['priceCents', 'id'])
@Index('visits_state_price_cents', ['state', 'priceCents', 'id'])
@Index('visits_reason', ['reason', 'id'])
@Index('visits_state_reason', ['state', 'reason', 'id'])
export class Visit {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 100 })
  reason!: string;

  @Column('varchar', { length: 1000, nullable: true })
  note!: string | null;

  @Column('varchar', { length: 9 })
  state!: VisitState;

  @Column('varchar', { name: 'starts_at', length: 24 })
  startsAt!: string;

  @Int64Column({ name: 'price_cents' })
  priceCents!: bigint;

  @DeleteDateColumn({ name: 'deleted_at' })
  deletedAt!: Date | null;
}

@ApiSchema({ name: 'NewVisit' })
export class NewVisit {
  @Text({ description: 'Why the animal comes', example: 'Vaccination', maxLength: 100 })
  reason!: string;

  @Text({ description: 'What the vet should know', maxLength: 1000, optional: true, nullable: true })
  note?: string | null;

  @Enum({ enumName: 'VisitState', values: STATES, description: 'How far it is', default: 'requested' })
  state!: VisitState;

  @Instant({ description: 'When it begins' })
  startsAt!: string;

  @Int64({ description: 'Price in cents', example: 4_500 })
  priceCents!: bigint;
}

@ApiSchema({ name: 'Visit' })
export class VisitDto extends NewVisit {
  @Int64({ description: 'Identifier assigned by the service', example: 1 })
  id!: bigint;
}

@ApiSchema({ name: 'VisitPatch' })
export class VisitPatch extends MergePatch(NewVisit) {}

export class VisitParams {
  @Int64({ description: 'The identifier of the visit', example: 1 })
  visitId!: bigint;
}

export class ListVisitsQuery extends PageQuery {
  @Filter()
  @Enum({
    enumName: 'VisitState',
    values: STATES,
    description: 'Only visits of these states',
    list: true,
    optional: true,
  })
  state?: VisitState[];

  @Filter({ property: 'startsAt', comparison: '>=' })
  @Instant({ description: 'Only visits that begin then or later', optional: true })
  startsFrom?: string;

  @Filter({ property: 'startsAt', comparison: '<' })
  @Instant({ description: 'Only visits that begin earlier', optional: true })
  startsBefore?: string;

  @Filter({ property: 'priceCents', comparison: '<=' })
  @Int64({ description: 'Only visits of at most this price', optional: true })
  maxPriceCents?: bigint;

  @Filter({ property: 'reason', comparison: 'prefix' })
  @Text({ description: 'Only visits whose reason begins so', maxLength: 100, optional: true })
  reasonPrefix?: string;

  @Sort({ by: ['startsAt', '-startsAt', 'priceCents', '-priceCents', '-id'] })
  sort?: string;
}

@Injectable()
export class VisitsService {
  constructor(
    @InjectRepository(Visit) private readonly visits: Repository<Visit>,
    private readonly dataSource: DataSource,
    private readonly rows: JsonRows,
  ) {}

  list(page: PageRequest): Promise<JsonPage<VisitDto>> {
    return this.rows.page(Visit, VisitDto, page);
  }

  async get(id: bigint): Promise<JsonText<VisitDto>> {
    const visit = await this.rows.one(Visit, VisitDto, id);
    if (!visit) throw new ApiError(VISITS_ERRORS.visit_not_found, { params: { visitId: String(id) } });
    return visit;
  }

  async create({ note = null, ...visit }: NewVisit): Promise<Visit> {
    const row = this.visits.create({ ...visit, note });
    await this.visits.insert(row);
    return row;
  }

  update(id: bigint, patch: VisitPatch, precondition: Precondition): Promise<JsonText<VisitDto>> {
    return this.dataSource.transaction(async () => {
      precondition.check(VisitDto, await this.get(id));
      if (Object.keys(patch).length > 0) await this.visits.update({ id }, patch);
      return this.get(id);
    });
  }

  delete(id: bigint, precondition: Precondition): Promise<void> {
    return this.dataSource.transaction(async () => {
      precondition.check(VisitDto, await this.get(id));
      await this.visits.softDelete({ id });
    });
  }
}

@Tag('Visits', 'Visits of animals at a vet.')
@Controller({ path: 'visits', version: '1' })
export class VisitsController {
  constructor(private readonly visits: VisitsService) {}

  @Get()
  @RequireScopes(VISITS_SCOPES.read)
  @Operation({
    id: 'listVisits',
    summary: 'List visits',
    description: 'Lists visits, page by page.',
    responses: {
      status: 200,
      description: 'A page of visits',
      arrayOf: VisitDto,
      schemaName: 'Visits',
      optionalHeaders: NEXT_PAGE,
    },
  })
  listVisits(@Query() query: ListVisitsQuery, @Paged() pager: Pager): Promise<JsonText<VisitDto[]>> {
    return pager.respond(query, (page) => this.visits.list(page));
  }

  @Post()
  @RequireScopes(VISITS_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'createVisit',
    summary: 'Add a visit',
    description: 'Adds a visit.',
    responses: {
      status: 201,
      description: 'The created visit',
      type: VisitDto,
      location: ({ id }) => `/v1/visits/${id}`,
      entityTag: true,
    },
  })
  createVisit(@Body() visit: NewVisit): Promise<VisitDto> {
    return this.visits.create(visit);
  }

  @Get(':visitId')
  @RequireScopes(VISITS_SCOPES.read)
  @Operation({
    id: 'getVisit',
    summary: 'Get a visit',
    description: 'Fetches one visit.',
    responses: { status: 200, description: 'The visit', type: VisitDto },
  })
  @ApiErrors(VISITS_ERRORS.visit_not_found)
  getVisit(@Param() { visitId }: VisitParams): Promise<JsonText<VisitDto>> {
    return this.visits.get(visitId);
  }

  @Patch(':visitId')
  @RequireScopes(VISITS_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'updateVisit',
    summary: 'Change a visit',
    description: 'Changes the fields that are sent; null removes one (RFC 7396).',
    responses: { status: 200, description: 'The visit as it is now', type: VisitDto, entityTag: true },
  })
  @ApiErrors(VISITS_ERRORS.visit_not_found)
  updateVisit(
    @Param() { visitId }: VisitParams,
    @Body() patch: VisitPatch,
    @IfMatch() precondition: Precondition,
  ): Promise<JsonText<VisitDto>> {
    return this.visits.update(visitId, patch, precondition);
  }

  @Delete(':visitId')
  @RequireScopes(VISITS_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'deleteVisit',
    summary: 'Delete a visit',
    description: 'Deletes a visit.',
    responses: { status: 204, description: 'The visit was deleted' },
  })
  @ApiErrors(VISITS_ERRORS.visit_not_found)
  deleteVisit(
    @Param() { visitId }: VisitParams,
    @IfMatch({ optional: true }) precondition: Precondition,
  ): Promise<void> {
    return this.visits.delete(visitId, precondition);
  }
}

@Module({
  imports: [addedTable(Visit)],
  controllers: [VisitsController],
  providers: [VisitsService],
})
export class VisitsModule {}
