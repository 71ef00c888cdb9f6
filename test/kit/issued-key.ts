import type { INestApplication } from '@nestjs/common';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import type { PlanLimits } from '../../src/core/config/plan-table.js';
import type { Plan } from '../../src/throttling/plans.js';

/** A new key. */
export interface KeyOptions {
  /** Client that it belongs to; by default a new one. */
  readonly clientId?: string;
  /** Name of the new client. */
  readonly name?: string;
  /** Plan of the new client; business by default. */
  readonly plan?: Plan;
  /** Limits of a new client of the plan enterprise. */
  readonly limits?: PlanLimits;
  /** Scopes of the key; by default those that every new key gets. */
  readonly scopes?: string[];
  /** Its lifetime, in milliseconds; by default it does not expire. */
  readonly expires?: number;
}

/** A key of an application that `setupApp()` has set up and that was initialized. */
export async function issueKey(
  app: INestApplication,
  { clientId: knownClientId, name = 'Test', plan = 'business', limits, scopes, expires }: KeyOptions = {},
): Promise<{ id: string; clientId: string; key: string }> {
  const clients = app.get(ClientsService);
  const clientId = knownClientId ?? (await clients.create({ name, plan, ...limits }, SERVICE_ITSELF)).id;
  const wanted = { clientId, ...(scopes ? { scopes } : {}), ...(expires ? { expires } : {}) };
  const { apiKey, secret } = await app.get(KeyIssuingService).issue(wanted, SERVICE_ITSELF);
  return { id: apiKey.id, clientId, key: secret };
}
