import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Pet } from './pet.entity.js';
import { PetsController } from './pets.controller.js';
import { PetsDemoData } from './pets.demo-data.js';
import { PetsService } from './pets.service.js';

/** The catalogue of animals: the folder to copy for another feature. */
@Module({
  imports: [TypeOrmModule.forFeature([Pet])],
  controllers: [PetsController],
  providers: [PetsService, PetsDemoData],
  exports: [PetsService],
})
export class PetsModule {}
