import { CLIENTS_ERRORS } from '../auth/clients/clients.errors.js';
import { CHALLENGE } from '../auth/clients/scopes.js';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../core/errors/api-error.js';

/** The client of an account, and the key that was sent. */
export interface AccountHolder {
  readonly clientId: string;
  readonly keyId: string;
}

/** The account of a caller. Throws no_account for a credential that is not an API key: its user belongs to no client. */
export function accountHolderOf(caller: Caller | undefined): AccountHolder {
  if (caller === undefined || caller.keyId === null)
    throw new ApiError(CLIENTS_ERRORS.no_account, { headers: { 'WWW-Authenticate': CHALLENGE } });
  return { clientId: caller.clientId, keyId: caller.keyId };
}
