import type { Command, Option } from 'commander';
import { declaredScopes } from '../../auth/scopes.js';
import type { Call } from '../frame/call.js';

type Word = readonly [word: string, meaning?: string];

/** What the next word can be: one of these words, a comma-separated list of them, or a file name. */
export interface Completions {
  readonly kind: 'one' | 'list' | 'file';
  readonly words: readonly Word[];
}

/** The candidates for the next word of a line that starts with `petstore` and is cut off at the cursor. */
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
  // Modules declare scopes. Importing them takes some time.
  if (isScopes) await call.shell.loadModules();
  const values = isScopes ? declaredScopes().map(({ name }) => name) : argChoices;
  const typedValues = isScopes ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const words = values
    .filter((value) => !typedValues.split(',').includes(value) && `${typedValues}${value}`.startsWith(typed))
    .map((value): Word => [`${prefix}${typedValues}${value}`]);
  return { kind: isScopes ? 'list' : 'one', words };
}
