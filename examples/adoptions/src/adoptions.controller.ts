import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiErrors,
  Cached,
  Idempotent,
  IfMatch,
  type JsonText,
  NEXT_PAGE,
  Operation,
  Paged,
  type Pager,
  type Precondition,
  RequireScopes,
  Tag,
} from 'petstore-service';
import {
  AdoptionDto,
  AdoptionParams,
  AdoptionPatch,
  ListAdoptionsQuery,
  NewAdoption,
} from './adoptions.dto.js';
import { ADOPTIONS_ERRORS } from './adoptions.errors.js';
import { ADOPTIONS_SCOPES } from './adoptions.scopes.js';
import { AdoptionsService } from './adoptions.service.js';

@Tag('Adoptions', 'Requests to adopt animals, and their decisions.')
@Controller({ path: 'adoptions', version: '1' })
export class AdoptionsController {
  constructor(private readonly adoptions: AdoptionsService) {}

  @Get()
  @RequireScopes(ADOPTIONS_SCOPES.read)
  @Cached()
  @Operation({
    id: 'listAdoptions',
    summary: 'List adoptions',
    description: 'Lists adoptions, page by page.',
    responses: {
      status: 200,
      description: 'A page of adoptions',
      arrayOf: AdoptionDto,
      schemaName: 'Adoptions',
      optionalHeaders: NEXT_PAGE,
    },
  })
  listAdoptions(@Query() query: ListAdoptionsQuery, @Paged() pager: Pager): Promise<JsonText<AdoptionDto[]>> {
    return pager.respond(query, (page) => this.adoptions.list(page));
  }

  @Post()
  @RequireScopes(ADOPTIONS_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'requestAdoption',
    summary: 'Request an adoption',
    description: 'Reserves an available animal for an adopter: its status becomes `pending`.',
    responses: {
      status: 201,
      description: 'The open adoption',
      type: AdoptionDto,
      location: ({ id }) => `/v1/adoptions/${id}`,
      entityTag: true,
    },
  })
  @ApiErrors(ADOPTIONS_ERRORS.pet_not_available)
  requestAdoption(@Body() body: NewAdoption): Promise<AdoptionDto> {
    return this.adoptions.request(body);
  }

  @Get(':adoptionId')
  @RequireScopes(ADOPTIONS_SCOPES.read)
  @Cached()
  @Operation({
    id: 'getAdoption',
    summary: 'Get an adoption',
    description: 'Fetches one adoption.',
    responses: { status: 200, description: 'The adoption', type: AdoptionDto },
  })
  @ApiErrors(ADOPTIONS_ERRORS.adoption_not_found)
  getAdoption(@Param() { adoptionId }: AdoptionParams): Promise<JsonText<AdoptionDto>> {
    return this.adoptions.get(adoptionId);
  }

  @Patch(':adoptionId')
  @RequireScopes(ADOPTIONS_SCOPES.decide)
  @Idempotent()
  @Operation({
    id: 'decideAdoption',
    summary: 'Decide an adoption',
    description:
      'Changes the fields that are sent (RFC 7396). If the adoption is approved, its animal becomes `sold`; if it is declined or expires, the animal becomes `available` again.',
    responses: { status: 200, description: 'The updated adoption', type: AdoptionDto, entityTag: true },
  })
  @ApiErrors(
    ADOPTIONS_ERRORS.adoption_not_found,
    ADOPTIONS_ERRORS.adoption_decided,
    ADOPTIONS_ERRORS.pet_not_reserved,
  )
  decideAdoption(
    @Param() { adoptionId }: AdoptionParams,
    @Body() patch: AdoptionPatch,
    @IfMatch() precondition: Precondition,
  ): Promise<JsonText<AdoptionDto>> {
    return this.adoptions.update(adoptionId, patch, precondition);
  }

  @Delete(':adoptionId')
  @RequireScopes(ADOPTIONS_SCOPES.write)
  @Idempotent()
  @Operation({
    id: 'deleteAdoption',
    summary: 'Delete a declined adoption',
    description: 'Deletes an adoption that was declined. Other adoptions cannot be deleted.',
    responses: { status: 204, description: 'The adoption was deleted' },
  })
  @ApiErrors(ADOPTIONS_ERRORS.adoption_not_found, ADOPTIONS_ERRORS.adoption_not_declined)
  deleteAdoption(
    @Param() { adoptionId }: AdoptionParams,
    @IfMatch({ optional: true }) precondition: Precondition,
  ): Promise<void> {
    return this.adoptions.delete(adoptionId, precondition);
  }
}
