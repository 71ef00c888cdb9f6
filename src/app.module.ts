import { Module } from '@nestjs/common';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { DocsModule } from './docs/docs.module.js';
import { HttpModule } from './http/http.module.js';
import { PetsModule } from './pets/pets.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/**
 * The service: the platform and its features. Add the module of your feature here, and nowhere else. Express tries routes in
 * the order of these modules, so self-service and administration come last: they receive the fewest requests.
 */
@Module({ imports: [HttpModule, WebhooksModule, DocsModule, PetsModule, AccountModule, AdminModule] })
export class AppModule {}
