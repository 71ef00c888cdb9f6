import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { Call, type Remote } from './call.js';
import type { Shell } from './shell.js';

/**
 * A command. Files that declare commands do not import Nest, TypeORM or the service's modules, so that help and usage errors are fast
 * (bench/start.mjs); `run` imports them.
 */
interface Definition {
  readonly description: string;
  /** Name of its only argument, such as `<id>`, and its description. */
  readonly argument?: ArgumentText;
  /** Its arguments, if there are several. */
  readonly arguments?: readonly ArgumentText[];
  /** Options, listed before `--json`. */
  readonly options?: readonly Option[];
  /** Whether it has no `--json` because its output has another format. */
  readonly hasNoJson?: boolean;
  /** Examples for its help, without the leading `petstore`. */
  readonly examples: readonly string[];
  /** Whether it can use a remote service at `--url`. */
  readonly isRemote?: boolean;
  /** Whether it runs when only its group is named. */
  readonly isDefault?: boolean;
  /** Runs the command. An omitted argument is empty. */
  readonly run: (call: Call, ...args: string[]) => Promise<void>;
}

/** Name of an argument, such as `<id>`, and its description. */
type ArgumentText = readonly [name: string, description?: string];

/** Adds a command or a group of commands to the program. */
export type Addition = (parent: Command, shell: Shell) => void;

/** Declares a command. */
export function command(name: string, definition: Definition): Addition {
  const { description, argument, options = [], hasNoJson = false, examples, run } = definition;
  const { arguments: all = argument ? [argument] : [], isRemote = false, isDefault = false } = definition;
  return (parent, shell) => {
    const added = parent.command(name, { isDefault }).description(description);
    for (const one of all) added.addArgument(new Argument(...one).argParser(filled));
    for (const one of [...options, ...(hasNoJson ? [] : [JSON_OPTION])]) added.addOption(one);
    added.addHelpText('after', `\nExamples:\n${examples.map((call) => `  petstore ${call}`).join('\n')}`);
    added.action(async () => {
      try {
        const call = new Call(shell, added, remoteOf(added));
        if (call.remote.url !== undefined && !isRemote)
          throw new InvalidArgumentError('--url: This command works only on the database itself.');
        await run(call, ...all.map((_, at) => String(added.processedArgs[at] ?? '')));
      } finally {
        await shell.closeApp?.();
      }
    });
  };
}

/** Declares a group of commands, such as `petstore client …`. */
export function group(name: string, description: string, commands: readonly Addition[]): Addition {
  return (parent, shell) => {
    const known = parent.commands.find((one) => one.name() === name);
    const added = known ?? parent.command(name).description(description);
    for (const add of commands) add(added, shell);
  };
}

/** An option with a text value, which the command's DTO validates. `choices` appear in the help and in completion. */
export function option(flags: string, description: string, choices?: readonly string[]): Option {
  const created = new Option(flags, description);
  return (choices ? created.choices(choices) : created).argParser(once);
}

/** An option without a value. */
export function flag(flags: string, description: string): Option {
  return new Option(flags, description);
}

/** An option whose value is a comma-separated list. */
export function list(flags: string, description: string): Option {
  return new Option(flags, description).argParser<string[] | undefined>((text, before) =>
    once(text, before)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}

const JSON_OPTION = flag('--json', 'print one JSON document on standard output and nothing else');
/** `--yes`, for commands that ask for confirmation. */
export const YES = flag('--yes', 'skip the confirmation prompt, for scripts');
/** `--wide`, for commands that print a list. */
export const WIDE = flag('--wide', 'show all columns in full and with exact times, even if lines wrap');
/** The options that select a remote service. They may also precede the command's name. */
export const REMOTE = [
  option(
    '--url <url>',
    'URL of the service, such as https://api.example.com; default: use the database directly',
  ),
  option(
    '--key <->',
    'with --url: - reads the admin key from standard input; default: PETSTORE_KEY, or a prompt',
  ),
  option('--ca <file>', 'with --url: file with certificates (PEM) to trust in addition to those of Node.js'),
];

/** The options that a command shares with most others. */
export const COMMON: ReadonlySet<Option> = new Set([JSON_OPTION, YES, WIDE, ...REMOTE]);

/** The options that select a remote service, unless the command has an option of the same name. */
function remoteOf(called: Command): Remote {
  let program = called;
  while (program.parent) program = program.parent;
  return Object.fromEntries(
    REMOTE.map((one) => {
      const name = one.attributeName();
      const own: unknown = called.options.includes(one) ? called.getOptionValue(name) : undefined;
      return [name, own ?? program.getOptionValue(name)];
    }),
  );
}

/** Commander would silently use the last of several values. */
function once(text: string, before: unknown): string {
  if (before !== undefined) throw new InvalidArgumentError('It is given twice.');
  return text;
}

/** An unset shell variable becomes an empty argument, which must not mean “all”. */
function filled(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}
