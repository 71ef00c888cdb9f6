import { SettingsError } from '../../core/config/define-settings.js';

/** The result of one check of `petstore doctor`; `skipped` means that it could not be made or is not needed. */
export interface Finding {
  /** The subject of the check, such as `disk`. */
  readonly check: string;
  readonly state: 'ok' | 'wrong' | 'skipped';
  /** The result in words and, if it is wrong, what to do. */
  readonly found: string;
}

/** A check by its name; the probe returns a sentence, or throws the fault. */
export type Check = readonly [check: string, probe: () => string | Promise<string>];

/** Thrown by a check that does not apply. */
class Skipped extends Error {}

/** Makes the checks in their order, without those that are false; each wrong setting is a finding. */
export async function examined(checks: readonly (Check | false)[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, probe] of checks.filter((one) => one !== false)) {
    try {
      findings.push({ check, state: 'ok', found: await probe() });
    } catch (error) {
      const state = error instanceof Skipped ? 'skipped' : 'wrong';
      for (const found of faultsIn(error)) findings.push({ check, state, found });
    }
  }
  return findings;
}

/** The faults in an error. */
export function faultsIn(error: unknown): readonly string[] {
  if (error instanceof SettingsError) return error.faults;
  return [error instanceof Error ? error.message : String(error)];
}

/** Ends a check that does not apply. */
export function skip(why: string): never {
  throw new Skipped(why);
}

/** Ends a check that has found a fault. */
export function fail(fault: string): never {
  throw new Error(fault);
}
