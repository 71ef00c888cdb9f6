import { Module } from '@nestjs/common';
import { AdminModule } from './admin/admin.module.js';
import { PetsModule } from './pets/pets.module.js';
import { PlatformModule } from './platform.module.js';

/**
 * The service: the platform and its features. Add the module of your feature here, and nowhere else. Express tries routes in
 * the order of these modules, so administration comes last: it receives the fewest requests.
 */
@Module({ imports: [PlatformModule, PetsModule, AdminModule] })
export class AppModule {}
