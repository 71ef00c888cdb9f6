import { Module } from '@nestjs/common';
import { AccountEvents } from './account-events.js';
import { ExpiringKeys } from './expiring-keys.js';

/** What the platform itself tells endpoints: of keys that end or are banned, and of used-up quota. */
@Module({ providers: [AccountEvents, ExpiringKeys] })
export class WebhookSourcesModule {}
