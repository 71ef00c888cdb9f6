// The built service with two additional operations, which change and delete an animal. Plain JavaScript without a build step, so it does
// not use decorator syntax.
import 'reflect-metadata';
import { OmitType } from '@nestjs/swagger';
import { Body, Controller, Delete, HttpCode, Module, Param, Patch } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { startService } from '../../../dist.suites/dist/src/start/start-service.js';
import { Pet } from '../../../dist.suites/dist/src/pets/pet.entity.js';
import { GetPetParams, PetDto } from '../../../dist.suites/dist/src/pets/pets.dto.js';
import { PETS_ERRORS } from '../../../dist.suites/dist/src/pets/pets.errors.js';
import { PETS_SCOPES } from '../../../dist.suites/dist/src/pets/pets.scopes.js';
import {
  ApiError,
  ApiErrors,
  MergePatch,
  Operation,
  RequireScopes,
  Tag,
} from '../../../dist.suites/dist/src/public.js';

class PetPatch extends MergePatch(OmitType(PetDto, ['id'])) {}

class PetChanges {
  constructor(database) {
    this.database = database;
  }

  async change({ petId: id }, changes) {
    return this.database.transaction(async (manager) => {
      await manager.update(Pet, { id }, changes);
      const pet = await manager.findOneBy(Pet, { id });
      if (pet === null) throw new ApiError(PETS_ERRORS.pet_not_found, { params: { petId: String(id) } });
      return pet;
    });
  }

  async delete({ petId: id }) {
    await this.database.getRepository(Pet).delete({ id });
  }
}
Reflect.defineMetadata('design:paramtypes', [DataSource], PetChanges);
decorate(
  'change',
  [GetPetParams, PetPatch],
  [
    Patch(':petId'),
    Operation({
      id: 'changePet',
      summary: 'Change an animal',
      responses: { status: 200, description: 'It', type: PetDto },
    }),
  ],
);
decorate(
  'delete',
  [GetPetParams],
  [
    Delete(':petId'),
    HttpCode(204),
    Operation({
      id: 'deletePet',
      summary: 'Delete an animal',
      responses: { status: 204, description: 'The animal was deleted' },
    }),
  ],
);
Tag('Changes', 'Changes of animals.')(PetChanges);
Controller({ path: 'pets', version: '1' })(PetChanges);

class PetChangesModule {}
Module({ controllers: [PetChanges] })(PetChangesModule);

await startService({ modules: [PetChangesModule] });

function decorate(name, parameters, decorators) {
  const method = Object.getOwnPropertyDescriptor(PetChanges.prototype, name);
  Reflect.defineMetadata('design:paramtypes', parameters, PetChanges.prototype, name);
  Param()(PetChanges.prototype, name, 0);
  if (parameters.length > 1) Body()(PetChanges.prototype, name, 1);
  const all = [...decorators, RequireScopes(PETS_SCOPES.write), ApiErrors(PETS_ERRORS.pet_not_found)];
  for (const decorator of all) decorator(PetChanges.prototype, name, method);
}
