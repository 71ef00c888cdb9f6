import { type Command, Option } from 'commander';
import type { Action, AskingAction, PlainAction } from './action.js';
import { CallFaults } from './call-faults.js';
import { YES } from './confirmation.js';
import { type RunOptions, runCommand, valuesOf } from './run-command.js';
import type { Shell } from './shell.js';

/** How a command is called. */
interface Calling extends RunOptions {
  readonly name: string;
  readonly description: string;
  /** Name of its one argument, such as `<id>`, and what that is. */
  readonly argument?: readonly [name: string, description?: string];
  /** Its options. `--json` is added as the last one, unless it stands among them. */
  readonly options?: readonly Option[];
  /** How it is called, shown below its help; without the leading `petstore`. */
  readonly examples: readonly string[];
}

/**
 * A command: how it is called, and where what it does is imported from. Files that declare commands import nothing of Nest, TypeORM
 * or the service's modules, so that help and refusals are quick (test/packed/command-line-start.spec.ts).
 */
export type CommandDefinition<Input, Result> = Calling &
  (
    | { readonly asks?: undefined; readonly action: () => Promise<PlainAction<Input, Result>> }
    /** Adds `--yes`. */
    | { readonly asks: true; readonly action: () => Promise<AskingAction<Input, Result>> }
  );

/** Adds a command, or a group of them, to the program. */
export type Addition = (parent: Command, shell: Shell) => void;

/** `--json`, which every command takes. */
export const JSON_OPTION = new Option(
  '--json',
  'print one JSON document on standard output and nothing else',
).default(false);

/** `--force`, of commands that may end the last key with the scope admin. */
export const FORCE = new Option(
  '--force',
  'do it even if nothing is left that works with the scope admin over HTTP',
).default(false);

/** Declares a command. */
export function command<Input, Result>(definition: CommandDefinition<Input, Result>): Addition {
  const { name, description, argument, examples } = definition;
  const options = [...(definition.options ?? []), ...(definition.asks ? [YES] : [])];
  const hasJson = options.some(({ long }) => long === JSON_OPTION.long);
  return (parent, shell) => {
    const added = parent.command(name).description(description);
    const faults = CallFaults.of(added, hasJson ? options : [...options, JSON_OPTION], argument);
    added.addHelpText('after', `\nExamples:\n${examples.map((call) => `  petstore ${call}`).join('\n')}`);
    added.action(async () => {
      const action: Action<Input, Result> = await definition.action();
      const [first, ...others] = [...faults.all(), ...(await faultsOfInput(action, added, faults))];
      if (first !== undefined) added.error([first, ...others].join('\n'));
      await runCommand(definition, action, shell, added);
    });
  };
}

/** Declares a group of commands, such as `petstore client …`. */
export function group(name: string, description: string, commands: readonly Addition[]): Addition {
  return (parent, shell) => {
    const added = parent.command(name).description(description);
    for (const add of commands) add(added, shell);
  };
}

/** What else is wrong with the values of a call that has faults already; without one, its input tells by itself. */
async function faultsOfInput<Input, Result>(
  { input }: Action<Input, Result>,
  called: Command,
  faults: CallFaults,
): Promise<string[]> {
  if (!input || faults.all().length === 0) return [];
  try {
    await input(valuesOf(called));
    return [];
  } catch (error) {
    const { valueFaults } = await import('./failure.js');
    const found = valueFaults(error);
    return found.filter(({ option }) => !faults.has(option)).map(({ text }) => text);
  }
}
