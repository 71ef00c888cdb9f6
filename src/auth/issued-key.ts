import { randomUUID } from 'node:crypto';
import { ApiKey } from './api-key.entity.js';
import { digestOf, displayablePrefixOf, generateApiKey, type KeyEnvironment } from './api-key.format.js';

/** A key just made, with the secret that is never shown again. */
export interface IssuedKey {
  readonly apiKey: ApiKey;
  readonly secret: string;
}

/** Makes a key with a new secret; it works once its row is inserted. */
export function makeKey(
  environment: KeyEnvironment,
  of: Pick<ApiKey, 'clientId' | 'scopes' | 'label' | 'createdAt' | 'expiresAt'>,
): IssuedKey {
  const secret = generateApiKey(environment);
  const apiKey = Object.assign(new ApiKey(), {
    ...of,
    id: randomUUID(),
    digest: digestOf(secret),
    prefix: displayablePrefixOf(secret),
    issuedUntil: of.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
    replacedBy: null,
  });
  return { apiKey, secret };
}
