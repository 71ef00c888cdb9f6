import type { INestApplication } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { stringify } from 'lossless-json';
import type { Operator } from '../accounts/audited-changes.js';
import { SystemClock } from '../clock.js';
import { CallFaults } from './call-faults.js';
import { type Confirmation, YES, agreed, nobodyToAsk } from './confirmation.js';
import type { Screen, View } from './list-table.js';
import { type Prompt, secretLine } from './prompt.js';
import { Refusal } from './refusal.js';
import { commandLineOperator, valueFaults } from './service-calls.js';

/** Where a command runs: what it needs of the world around it. */
export interface Shell {
  /** Runs something in the service's own application. */
  readonly withApp: <T>(command: (app: INestApplication) => Promise<T>) => Promise<T>;
  /** As `loadModules` of Call. */
  readonly loadModules: () => Promise<void>;
  /** Standard output. */
  readonly write: (text: string) => void;
  /** Waits until standard output has taken what was written; answers why it has not, or undefined. */
  readonly flushed?: () => Promise<NodeJS.ErrnoException | undefined>;
  /** Standard error. */
  readonly writeError: (text: string) => void;
  /** The terminal that standard output is; absent when it is none. */
  readonly screen?: Screen;
  /** Asks the person at the terminal; absent where none sits there. */
  readonly prompt?: Prompt;
  /** Reads the one line of standard input that is no terminal; `title` is what errors call it. Throws InvalidArgumentError. */
  readonly readLine?: (title: string) => Promise<string>;
}

/** What a command was called with. */
export interface Call<Input> {
  /** Its argument; empty for a command without one. */
  readonly argument: string;
  readonly input: Input;
  /** Whether `--force` was given. */
  readonly force: boolean;
  /** Who orders what it changes. */
  readonly by: Operator;
  /**
   * Imports the modules of the application, which then have declared their settings and brought their tables. A command without
   * the application that needs these calls it. Throws DeclarationError when one cannot be imported.
   */
  readonly loadModules: () => Promise<void>;
  /** Standard error, for what a command tells while it runs. */
  readonly tell: (text: string) => void;
}

/** Carries a command out. Whatever it throws ends the command with exit code 1, or 2 for a value that it does not take. */
type Run<Input, Result> =
  | {
      readonly run: (app: INestApplication, call: Call<Input>) => Promise<Result>;
      /** Adds `--yes`. */
      readonly confirm?: Confirmation<Input, [app: INestApplication, call: Call<Input>]>;
    }
  /** Without the service's application, which is not started. */
  | {
      readonly runAlone: (call: Call<Input>) => Promise<Result>;
      /** Adds `--yes`. */
      readonly confirm?: Confirmation<Input, [call: Call<Input>]>;
    };

/** A command: how it is called, what it does, and how its result is shown. */
export type CommandDefinition<Input, Result> = Run<Input, Result> & {
  readonly name: string;
  readonly description: string;
  /** Whether it changes anything, which stays changed when its result cannot be written. */
  readonly changes?: true;
  /** Name of its one argument, such as `<id>`, and what that is. */
  readonly argument?: readonly [name: string, description?: string];
  /**
   * The argument, or the option by its name in camel case, that may be `-` for one line of standard input, so that no secret stands
   * in a list of processes or in the history of a shell; and what prompts and errors call it.
   */
  readonly secret?: { readonly of: string; readonly title: string };
  /** Its options. `--json` is added as the last one, unless it stands among them. */
  readonly options?: readonly Option[];
  /** How it is called, shown below its help; without the leading `petstore`. */
  readonly examples: readonly string[];
  /** Makes its input of the options, before the application is started; without it they are the input as they are. */
  readonly input?: (options: Readonly<Record<string, unknown>>) => Input | Promise<Input>;
  /** The result for people; undefined prints nothing. */
  readonly text: (result: Result, input: Input, view: View) => string | undefined;
  /** What `--json` prints of the result, if that is not the result as it is. */
  readonly json?: (result: Result) => unknown;
  /** Why the command ends with exit code 1 although its result is printed; undefined when it succeeded. */
  readonly refusal?: (result: Result) => string | undefined;
};

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
  const options = [...(definition.options ?? []), ...(definition.confirm ? [YES] : [])];
  const hasJson = options.some(({ long }) => long === JSON_OPTION.long);
  return (parent, shell) => {
    const added = parent.command(name).description(description);
    const faults = CallFaults.of(added, hasJson ? options : [...options, JSON_OPTION], argument);
    added.addHelpText('after', `\nExamples:\n${examples.map((call) => `  petstore ${call}`).join('\n')}`);
    added.action(async () => {
      const [first, ...others] = [...faults.all(), ...(await faultsOfInput(definition, added, faults))];
      if (first !== undefined) added.error([first, ...others].join('\n'));
      await runCommand(definition, shell, added);
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

/** Options that say how a command runs and is shown. */
interface General {
  readonly json: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly wide?: boolean;
}

/** The options of a command's own. */
function valuesOf(called: Command): Record<string, unknown> {
  const { json: _json, force: _force, yes: _yes, wide: _wide, ...values } = called.opts<General>();
  return values;
}

/** What else is wrong with the values of a call that has faults already; without one, its input tells by itself. */
async function faultsOfInput<Input, Result>(
  { input }: CommandDefinition<Input, Result>,
  called: Command,
  faults: CallFaults,
): Promise<string[]> {
  if (faults.all().length === 0) return [];
  try {
    await input?.(valuesOf(called));
    return [];
  } catch (error) {
    const found = valueFaults(error);
    return found.filter(({ option }) => !faults.has(option)).map(({ text }) => text);
  }
}

async function runCommand<Input, Result>(
  definition: CommandDefinition<Input, Result>,
  shell: Shell,
  called: Command,
): Promise<void> {
  const { json: isJson, force = false, yes = false, wide: isWide = false } = called.opts<General>();
  const read: Record<string, unknown> & { argument: string } = {
    ...valuesOf(called),
    argument: called.args[0] ?? '',
  };
  const { secret } = definition;
  if (secret && read[secret.of] === '-') read[secret.of] = await secretOf(secret.title, shell);
  const { argument, ...values } = read;
  const input = await (definition.input?.(values) ?? (values as Input));
  const call = {
    argument,
    input,
    force,
    by: commandLineOperator(),
    loadModules: shell.loadModules,
    tell: shell.writeError,
  };
  const result = await resultOf(definition, call, shell, yes);
  const { text, json = (shown: Result) => shown, refusal } = definition;
  const { screen } = shell;
  const view = { isWide, now: new SystemClock().now(), ...(screen ? { screen } : {}) };
  const shown = isJson ? stringify(json(result), undefined, 2) : text(result, input, view);
  if (shown !== undefined) {
    shell.write(`${shown}\n`);
    tellLost(await shell.flushed?.(), definition.changes === true, shell);
  }
  const reason = refusal?.(result);
  if (reason !== undefined) throw new Refusal(reason);
}

/** Who reads the output may have seen enough, as `head` has: that is no failure, but a change that nobody has heard of is told. */
function tellLost(
  lost: NodeJS.ErrnoException | undefined,
  changes: boolean,
  { writeError }: Pick<Shell, 'writeError'>,
): void {
  if (!lost) return;
  const stays = changes
    ? ' What was changed stays changed; `petstore audit list` shows clients and keys.'
    : '';
  if (lost.code !== 'EPIPE') throw new Refusal(`The output could not be written: ${lost.message}.${stays}`);
  if (changes) writeError(`The result was not read.${stays}\n`);
}

/** Runs a command, once it is sure that it is wanted. */
async function resultOf<Input, Result>(
  definition: CommandDefinition<Input, Result>,
  call: Call<Input>,
  shell: Shell,
  yes: boolean,
): Promise<Result> {
  const { confirm } = definition;
  const isAsked = !yes && confirm !== undefined && (confirm.when?.(call.input) ?? true);
  // Before the application is started, which may migrate a database.
  if (isAsked && !shell.prompt && !('runAlone' in definition)) throw nobodyToAsk();
  if ('runAlone' in definition) {
    if (isAsked && definition.confirm) await agreed(await definition.confirm.question(call), shell.prompt);
    return definition.runAlone(call);
  }
  return shell.withApp(async (app) => {
    if (isAsked && definition.confirm)
      await agreed(await definition.confirm.question(app, call), shell.prompt);
    return definition.run(app, call);
  });
}

async function secretOf(title: string, { prompt, readLine }: Shell): Promise<string> {
  if (prompt) return secretLine(await prompt(`${title}: `, 'hidden'), title);
  if (!readLine) throw new Refusal(`${title}: There is no standard input to read.`);
  return readLine(title);
}
