import { Module } from '@nestjs/common';
import { PetsModule } from './pets/pets.module.js';
import { PlatformModule } from './platform.module.js';

/** The service: the platform and its features. Add the module of your feature here, and nowhere else. */
@Module({ imports: [PlatformModule, PetsModule] })
export class AppModule {}
