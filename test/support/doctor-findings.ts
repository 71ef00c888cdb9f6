import { expect } from 'vitest';
import { petstoreHere } from './petstore-here.js';

/** A finding of `petstore doctor`. */
export interface Finding {
  check: string;
  state: string;
  found: string;
}

/** The findings in the JSON output of doctor. */
export const findingsIn = (stdout: string) => (JSON.parse(stdout) as { findings: Finding[] }).findings;

/** The finding of one check of doctor. */
export async function finding(
  path: string,
  check: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<Finding> {
  const { stdout } = await petstoreHere(path, ['doctor', '--json'], environment);
  return findingsIn(stdout).find((one) => one.check === check) ?? { check, state: 'missing', found: '' };
}

/** A finding that reports a problem with this text. */
export const wrong = (found: RegExp) => ({ state: 'wrong', found: expect.stringMatching(found) as string });
