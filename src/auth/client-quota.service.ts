import { Injectable } from '@nestjs/common';
import { clientSubjectId } from '../throttling/quota-subject.js';
import type { WindowState } from '../throttling/quota.js';
import { QuotaService } from '../throttling/quota.service.js';
import { ApiKeysService } from './api-keys.service.js';
import type { Client } from './client.entity.js';

/** What a client has used, and which of its keys are banned. */
export interface ClientQuota {
  readonly windows: readonly WindowState[];
  readonly bans: readonly { readonly keyId: string; readonly bannedUntil: string }[];
}

/** Shows the quota of a client to an operator. */
@Injectable()
export class ClientQuotaService {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly quota: QuotaService,
  ) {}

  /** The client's windows and bans now. Without Redis, another process sees them up to a second late, and no minute. */
  async of(client: Client): Promise<ClientQuota> {
    const subject = { id: clientSubjectId(client.id), plan: client.plan, ...client.limits };
    const { windows } = await this.quota.look(subject);
    const bans = [];
    for (const { id: keyId } of await this.keys.list(client.id)) {
      const { bannedUntil } = await this.quota.look({ ...subject, keyId });
      if (bannedUntil !== undefined) bans.push({ keyId, bannedUntil: new Date(bannedUntil).toISOString() });
    }
    return { windows, bans };
  }
}
