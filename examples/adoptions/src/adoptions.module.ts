import { Module } from '@nestjs/common';
import { TablesModule } from 'petstore-service';
import { PetsModule } from 'petstore-service/pets';
import { AdoptionExpiry } from './adoption-expiry.js';
import { AdoptionLetter } from './adoption-letter.entity.js';
import { AdoptionMail } from './adoption-mail.js';
import { AdoptionTransitions } from './adoption-transitions.js';
import { Adoption } from './adoption.entity.js';
import { AdoptionsController } from './adoptions.controller.js';
import { AdoptionsDemoData } from './adoptions.demo-data.js';
import { AdoptionsMetrics } from './adoptions.metrics.js';
import { Adoptions1795400000000 } from './adoptions.migration.js';
import { AdoptionsService } from './adoptions.service.js';

/** Adoptions of animals. */
@Module({
  imports: [
    PetsModule,
    TablesModule.forFeature({ entities: [Adoption, AdoptionLetter], migrations: [Adoptions1795400000000] }),
  ],
  controllers: [AdoptionsController],
  providers: [
    AdoptionsService,
    AdoptionTransitions,
    AdoptionsMetrics,
    AdoptionExpiry,
    AdoptionMail,
    AdoptionsDemoData,
  ],
})
export class AdoptionsModule {}
