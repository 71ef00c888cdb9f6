import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { Call } from './call.js';
import type { Shell } from './shell.js';

/**
 * A command. Files that declare commands import nothing of Nest, TypeORM or the service's modules, so that help and refusals are quick
 * (bench/start.mjs): `run` imports them.
 */
interface Definition {
  readonly description: string;
  /** Name of its one argument, such as `<id>`, and what that is. */
  readonly argument?: readonly [name: string, description?: string];
  /** Its options before `--json`. */
  readonly options?: readonly Option[];
  /** Whether it has no `--json`, because it writes something else. */
  readonly hasNoJson?: boolean;
  /** Examples below its help, without the leading `petstore`. */
  readonly examples: readonly string[];
  /** Runs it; `argument` is empty if it was left out. */
  readonly run: (call: Call, argument: string) => Promise<void>;
}

/** Adds a command, or a group of them, to the program. */
export type Addition = (parent: Command, shell: Shell) => void;

/** Declares a command. */
export function command(name: string, definition: Definition): Addition {
  const { description, argument, options = [], hasNoJson = false, examples, run } = definition;
  return (parent, shell) => {
    const added = parent.command(name).description(description);
    if (argument) added.addArgument(new Argument(...argument).argParser(filled));
    for (const one of [...options, ...(hasNoJson ? [] : [JSON_OPTION])]) added.addOption(one);
    added.addHelpText('after', `\nExamples:\n${examples.map((call) => `  petstore ${call}`).join('\n')}`);
    added.action(async () => {
      try {
        await run(new Call(shell, added), String(added.processedArgs[0] ?? ''));
      } finally {
        await shell.closeApp?.();
      }
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

/** An option with a text value, which the DTO of the command validates. `choices` are shown and completed. */
export function option(flags: string, description: string, choices?: readonly string[]): Option {
  const made = new Option(flags, description);
  return (choices ? made.choices(choices) : made).argParser(once);
}

/** An option without a value. */
export function flag(flags: string, description: string): Option {
  return new Option(flags, description);
}

/** An option whose value is a list with commas between. */
export function list(flags: string, description: string): Option {
  return new Option(flags, description).argParser<string[] | undefined>((text, before) =>
    once(text, before)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

const JSON_OPTION = flag('--json', 'print one JSON document on standard output and nothing else');
/** `--force`, of commands that may end the last key with the scope admin. */
export const FORCE = flag('--force', 'make the change even if no working key with the scope admin remains');
/** `--yes`, of commands that ask. */
export const YES = flag('--yes', 'skip the confirmation, for scripts');
/** `--wide`, of commands that show a list. */
export const WIDE = flag(
  '--wide',
  'show all columns in full and with exact times, even if lines become too long',
);
/** `--days`, of commands that show the last days. */
export const DAYS = option('--days <days>', 'how many days to show, including today; 1 to 90, default: 7');
/** `--client`, of commands that show what belongs to one. */
export const CLIENT = option('--client <client>', 'only those of this client, by its id or name');

/** Commander would silently use the last of several values. */
function once(text: string, before: unknown): string {
  if (before !== undefined) throw new InvalidArgumentError('It is given twice.');
  return text;
}

/** A shell makes an empty argument of an unset variable; it must not mean “all”. */
function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}
