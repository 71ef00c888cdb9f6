import { Module } from '@nestjs/common';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { DocsModule } from './docs/docs.module.js';
import { HttpModule } from './http/http.module.js';
import { PetsModule } from './pets/pets.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/**
 * The service: the platform and its features. Add your feature's module here, and nowhere else. Express matches routes in the order of
 * these modules, so self-service and administration, which receive the fewest requests, come last.
 */
@Module({ imports: [HttpModule, WebhooksModule, DocsModule, PetsModule, AccountModule, AdminModule] })
export class AppModule {}
