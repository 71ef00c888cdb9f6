import { hostname, userInfo } from 'node:os';
import type { Operator } from '../auth/clients/audited-changes.js';

/** The user of the command line: user@host in the audit trail, who may grant every scope. */
export function commandLineOperator(): Operator {
  return {
    kind: 'command_line',
    keyId: null,
    from: `${userName()}@${hostname()}`,
    requestId: null,
    scopes: 'all',
  };
}

/** A container may run with a uid that no user has. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
