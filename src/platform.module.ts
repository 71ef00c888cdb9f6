import { Module } from '@nestjs/common';
import { AccountModule } from './account/account.module.js';
import { AdminModule } from './admin/admin.module.js';
import { DocsModule } from './docs/docs.module.js';
import { HttpModule } from './http/http.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The platform without features, to which a project that depends on the service adds its modules. */
@Module({ imports: [HttpModule, WebhooksModule, DocsModule, AccountModule, AdminModule] })
export class PlatformModule {}
