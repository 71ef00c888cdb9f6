import { Module } from '@nestjs/common';
import { TablesModule } from 'petstore-service';
import { Pet } from './pet.entity.js';
import { PetsController } from './pets.controller.js';
import { PetsDemoData } from './pets.demo-data.js';
import { Pets1793491201000 } from './pets.migration.js';
import { PetsService } from './pets.service.js';

/** The catalogue of animals. It lists its tables for projects that depend on the service, where they are not found by file name. */
@Module({
  imports: [TablesModule.forFeature({ entities: [Pet], migrations: [Pets1793491201000] })],
  controllers: [PetsController],
  providers: [PetsService, PetsDemoData],
  exports: [PetsService],
})
export class PetsModule {}
