import type { Request } from 'express';
import { setQuotaSubject } from '../throttling/quota-subject.js';
import type { ApiKey } from './api-key.entity.js';
import { setCaller } from './caller.js';
import { subjectOfClient } from './usage.service.js';

/** Makes a request that of a verified key: for scopes and logs its caller, for quotas its client. */
export function identify(request: Request, key: ApiKey): void {
  const { id: keyId, client, scopes } = key;
  setCaller(request, { clientId: client.id, keyId, scopes });
  setQuotaSubject(request, { ...subjectOfClient(client), keyId });
}
