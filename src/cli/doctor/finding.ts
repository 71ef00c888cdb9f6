import { SettingsError } from '../../core/config/define-settings.js';

/**
 * The result of one check of `petstore doctor`. `skipped` means that the check does not apply or could not be performed. The service runs
 * despite a `warning`.
 */
export interface Finding {
  /** What was checked, such as `disk`. */
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'wrong' | 'skipped';
  /** The result as a sentence and, if it is an error, what to do. */
  readonly found: string;
}

/** A check and its probe, which returns a sentence or throws an error. */
export type Check = readonly [check: string, probe: () => string | Promise<string>];

class Skipped extends Error {}
class Warned extends Error {}

/** Runs the checks in order, skipping those that are `false`. Each invalid setting becomes a finding. */
export async function examined(checks: readonly (Check | false)[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [check, probe] of checks.filter((one) => one !== false)) {
    try {
      findings.push({ check, state: 'ok', found: await probe() });
    } catch (error) {
      const state = error instanceof Skipped ? 'skipped' : error instanceof Warned ? 'warning' : 'wrong';
      for (const found of messagesIn(error)) findings.push({ check, state, found });
    }
  }
  return findings;
}

/** The messages of an error. */
export function messagesIn(error: unknown): readonly string[] {
  if (error instanceof SettingsError) return error.problems;
  return [error instanceof Error ? error.message : String(error)];
}

/** Skips a check that does not apply. */
export function skip(why: string): never {
  throw new Skipped(why);
}

/** Makes a check warn: the service can run, but an operator should act. */
export function warn(text: string): never {
  throw new Warned(text);
}

/** Makes a check fail. */
export function fail(error: string): never {
  throw new Error(error);
}
