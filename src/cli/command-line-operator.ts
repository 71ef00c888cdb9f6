import { hostname, userInfo } from 'node:os';
import type { Operator } from '../auth/clients/audited-changes.js';

/** Who runs the command line: it stands in the audit trail as user@host, and may grant every scope. */
export function commandLineOperator(): Operator {
  return {
    kind: 'command_line',
    keyId: null,
    from: `${userName()}@${hostname()}`,
    requestId: null,
    scopes: 'all',
  };
}

/** A container may run under a number that no user has. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
