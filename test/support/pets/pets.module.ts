import { Module } from '@nestjs/common';
import { TablesModule } from 'petstore-service';
import { Pet } from './pet.entity.js';
import { PetsController } from './pets.controller.js';
import { PetsDemoData } from './pets.demo-data.js';
import { Pets1793491201000 } from './pets.migration.js';
import { PetsService } from './pets.service.js';

/**
 * The catalogue that the suites of the platform and of packages use instead of the features of the checkout, so that those can be changed
 * or removed. Its operations, rows and names match src/pets, as the specification defines them.
 */
@Module({
  imports: [TablesModule.forFeature({ entities: [Pet], migrations: [Pets1793491201000] })],
  controllers: [PetsController],
  providers: [PetsService, PetsDemoData],
  exports: [PetsService],
})
export class PetsModule {}
