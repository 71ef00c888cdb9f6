import type { INestApplication } from '@nestjs/common';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import type { PlanLimits } from '../../src/core/config/plan-table.js';
import type { Plan } from '../../src/throttling/plans.js';

/** Options of a new key. */
export interface KeyOptions {
  /** Client that the key belongs to; by default a new client. */
  readonly clientId?: string;
  /** Name of the new client. */
  readonly name?: string;
  /** Plan of the new client; business by default. */
  readonly plan?: Plan;
  /** Limits of the new client, if its plan is enterprise. */
  readonly limits?: PlanLimits;
  /** Scopes of the key; by default the scopes of every new key. */
  readonly scopes?: string[];
  /** Lifetime of the key in milliseconds; by default it does not expire. */
  readonly expires?: number;
}

/** Issues a key in an application that `setupApp()` has configured and that is initialized. */
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
