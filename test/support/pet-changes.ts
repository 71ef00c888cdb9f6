import { Body, Controller, Delete, HttpCode, Module, Param, Patch } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { OmitType } from '@nestjs/swagger';
import type { Repository } from 'typeorm';
import { Pet } from './pets/pet.entity.js';
import { GetPetParams, PetDto } from './pets/pets.dto.js';
import { PETS_ERRORS } from './pets/pets.errors.js';
import { PETS_SCOPES } from './pets/pets.scopes.js';
import { ApiError, ApiErrors, MergePatch, Operation, RequireScopes, Tag } from '../../src/public.js';

class PetPatch extends MergePatch(OmitType(PetDto, ['id'])) {}

@Tag('Changes', 'Changes of animals.')
@Controller({ path: 'pets', version: '1' })
class PetChanges {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  @Patch(':petId')
  @RequireScopes(PETS_SCOPES.write)
  @ApiErrors(PETS_ERRORS.pet_not_found)
  @Operation({
    id: 'changePet',
    summary: 'Change an animal',
    description: 'Changes what is given.',
    responses: { status: 200, description: 'It', type: PetDto },
  })
  async change(@Param() { petId: id }: GetPetParams, @Body() changes: PetPatch): Promise<PetDto> {
    return this.pets.manager.transaction(async (manager) => {
      await manager.update(Pet, { id }, changes);
      const pet = await manager.findOneBy(Pet, { id });
      if (pet === null) throw new ApiError(PETS_ERRORS.pet_not_found, { params: { petId: String(id) } });
      return pet;
    });
  }

  @Delete(':petId')
  @HttpCode(204)
  @RequireScopes(PETS_SCOPES.write)
  @Operation({
    id: 'deletePet',
    summary: 'Delete an animal',
    description: 'Deletes it for good.',
    responses: { status: 204, description: 'The animal was deleted' },
  })
  async delete(@Param() { petId: id }: GetPetParams): Promise<void> {
    await this.pets.delete({ id });
  }
}

/** Additional operations that change and delete an animal. */
@Module({ imports: [TypeOrmModule.forFeature([Pet])], controllers: [PetChanges] })
export class PetChangesModule {}
