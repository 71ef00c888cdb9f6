import type { Command, Option } from 'commander';
import { declaredScopes } from '../../auth/scopes.js';
import type { Call } from '../frame/call.js';

/** A word that may come next, with what it means. */
type Word = readonly [word: string, meaning?: string];

/** What may come next on a command line: one word, several with commas between, or the name of a file. */
export interface Completions {
  readonly kind: 'one' | 'list' | 'file';
  readonly words: readonly Word[];
}

/** What may come next after a line that begins with `petstore` and ends where the cursor is. */
export async function completionsOf(program: Command, line: string, call: Call): Promise<Completions> {
  const before = line.trimStart().split(/\s+/);
  const current = before.pop() ?? '';
  const at = before.reduce(
    (group, word) => group.commands.find((child) => child.name() === word) ?? group,
    program,
  );
  const help = at.createHelp();
  const options = help.visibleOptions(at);
  const [, flag = before.at(-1), typed] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
  const option = options.find(({ long, required }) => required && long === flag);
  if (option) return valuesOf(option, typed ?? current, typed === undefined ? '' : `${flag}=`, call);
  const flags = options.map(({ long, flags: all, description }): Word => [long ?? all, description]);
  const commands = help.visibleCommands(at).map((child): Word => [child.name(), child.description()]);
  const words = commands.length > 0 && !current.startsWith('-') ? commands : flags;
  return { kind: 'one', words: words.filter(([word]) => word.startsWith(current)) };
}

async function valuesOf(
  { flags, argChoices = [] }: Option,
  typed: string,
  prefix: string,
  call: Call,
): Promise<Completions> {
  if (flags.endsWith('<file>')) return { kind: 'file', words: [] };
  const isScopes = flags.startsWith('--scopes');
  // Modules declare scopes, and take some time to import.
  if (isScopes) await call.shell.loadModules();
  const values = isScopes ? declaredScopes().map(({ name }) => name) : argChoices;
  const given = isScopes ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const words = values
    .filter((value) => !given.split(',').includes(value) && `${given}${value}`.startsWith(typed))
    .map((value): Word => [`${prefix}${given}${value}`]);
  return { kind: isScopes ? 'list' : 'one', words };
}
