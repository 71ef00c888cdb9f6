import { expect } from 'vitest';
import { petstoreHere } from './petstore-here.js';

/** One of the findings of doctor. */
export interface Finding {
  check: string;
  state: string;
  found: string;
}

/** The findings in the JSON of doctor. */
export const findingsIn = (stdout: string) => (JSON.parse(stdout) as { findings: Finding[] }).findings;

/** What doctor finds at one check. */
export async function finding(
  path: string,
  check: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<Finding> {
  const { stdout } = await petstoreHere(path, ['doctor', '--json'], environment);
  return findingsIn(stdout).find((one) => one.check === check) ?? { check, state: 'missing', found: '' };
}

/** A finding that something is wrong, and what it says. */
export const wrong = (found: RegExp) => ({ state: 'wrong', found: expect.stringMatching(found) as string });
