import { Controller, Delete, Get, Param, Put, Req, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiErrors, Consumes, Int64, Operation, RequireScopes, Tag } from 'petstore-service';
import { PETS_ERRORS, PetsService } from 'petstore-service/pets';
import { PHOTOS_ERRORS } from './photos.errors.js';
import { PHOTOS_SCOPES } from './photos.scopes.js';
import { PhotosStore } from './photos.store.js';

/** Path parameters of the operations on one photo. */
class PhotoParams {
  @Int64({ description: 'The animal', example: 1 })
  petId!: bigint;
}

const PNG = { 'image/png': { schema: { type: 'string', format: 'binary' } } } as const;

@Tag('Photos', 'A photo of each animal.')
@Controller({ path: 'photos', version: '1' })
export class PhotosController {
  constructor(
    private readonly pets: PetsService,
    private readonly store: PhotosStore,
  ) {}

  @Put(':petId')
  @RequireScopes(PHOTOS_SCOPES.write)
  @Consumes('image/png', { limitBytes: 20_000_000 })
  @Operation({
    id: 'putPhoto',
    summary: 'Keep a photo',
    description: 'Stores the photo of an animal, and replaces an existing one.',
    responses: { status: 204, description: 'The photo was stored' },
  })
  @ApiErrors(PETS_ERRORS.pet_not_found)
  async putPhoto(@Param() { petId }: PhotoParams, @Req() request: Request): Promise<void> {
    await this.pets.get(petId);
    await this.store.keep(petId, request);
  }

  @Get(':petId')
  @RequireScopes(PHOTOS_SCOPES.read)
  @Operation({
    id: 'getPhoto',
    summary: 'Get a photo',
    description: 'Returns the photo of an animal, or a range of its bytes (RFC 9110 section 14).',
    responses: { status: 200, description: 'The photo', contentType: 'image/png' },
  })
  @ApiResponse({ status: 206, description: 'The requested range', content: PNG })
  @ApiErrors(PHOTOS_ERRORS.photo_not_found)
  getPhoto(@Param() { petId }: PhotoParams, @Res() response: Response): Promise<void> {
    return this.store.send(petId, response);
  }

  @Delete(':petId')
  @RequireScopes(PHOTOS_SCOPES.write)
  @Operation({
    id: 'deletePhoto',
    summary: 'Delete a photo',
    description: 'Deletes the photo of an animal.',
    responses: { status: 204, description: 'The photo was deleted, or did not exist' },
  })
  deletePhoto(@Param() { petId }: PhotoParams): Promise<void> {
    return this.store.delete(petId);
  }
}
