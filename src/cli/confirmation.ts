import { Option } from 'commander';
import type { Prompt } from './prompt.js';
import { Refusal } from './refusal.js';
import { printable } from './table.js';

/** What cannot be undone: a person is asked before it, and a script says `--yes`. */
export interface Confirmation<Input, Given extends readonly unknown[]> {
  /** Whether these options make it so; without it, all do. */
  readonly when?: (input: Input) => boolean;
  /**
   * What would be done, such as `Delete the client 7f… (Acme) for good`; undefined when nothing would be lost, so that nobody is asked.
   * What it throws ends the command before anything is done.
   */
  readonly question: (...given: Given) => string | undefined | Promise<string | undefined>;
}

/** `--yes`, of commands that ask. */
export const YES = new Option('--yes', 'do it without asking, as a script has to').default(false);

/** Why a command that cannot be undone is refused to a script. */
export function nobodyToAsk(): Refusal {
  return new Refusal('This cannot be undone, and nobody can be asked here: add --yes. Nothing was changed.');
}

/** Returns when the person at the terminal wants it; throws Refusal when not, and Interrupted at Ctrl-C. */
export async function agreed(question: string | undefined, prompt: Prompt | undefined): Promise<void> {
  if (question === undefined) return;
  if (!prompt) throw nobodyToAsk();
  const answer = await prompt(`${printable(question)}? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new Refusal('Nothing was changed.');
}
