import { type Operator, SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import type { NewKey } from '../../src/auth/clients/key-rules.js';
import { defineScope, defineScopes } from '../../src/auth/clients/scopes.js';
import { openParts } from './service-parts.js';

defineScopes('shelves', { read: 'Read shelves.', write: 'Change shelves.' });
defineScope('keeper', 'Do anything.', { grantedByDefault: false, lastKeyProtected: true });

/** An id that no client and no key has. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';
/** Where the clock of the parts stands. */
export const AT = '2026-11-20T12:00:10.250Z';
/** An hour, in milliseconds. */
export const HOUR = 3_600_000;

/** So many milliseconds after AT, as ISO 8601 text. */
export function after(milliseconds: number): string {
  return new Date(Date.parse(AT) + milliseconds).toISOString();
}

/** The services of keys, with one client and scopes of their own: `keeper` is protected, `shelves:…` are granted by default. */
export async function openKeys(environment: Readonly<Record<string, string>> = {}) {
  const parts = await openParts(environment);
  const { id: clientId } = await parts.clients.create({ name: 'Shop', plan: 'free' }, SERVICE_ITSELF);
  const issue = (of: Partial<NewKey> = {}, by: Operator = SERVICE_ITSELF) =>
    parts.issuing.issue({ clientId, ...of }, by);
  return {
    ...parts,
    clientId,
    issue,
    idOf: async (of: Partial<NewKey> = {}): Promise<string> => (await issue(of)).apiKey.id,
    /** The latest line of the audit trail. */
    told: async () => {
      const [entry] = (await parts.audit.list({ limit: 1 })).items;
      const { action, clientId: ofClient, keyId, details } = entry ?? {};
      return { action, clientId: ofClient, keyId, details };
    },
  };
}
