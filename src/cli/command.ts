import type { INestApplication } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { stringify } from 'lossless-json';
import type { Operator } from '../accounts/audited-changes.js';
import { commandLineOperator } from './service-calls.js';

/** Where a command runs: what it needs of the world around it. */
export interface Shell {
  /** Runs something in the service's own application. */
  readonly withApp: <T>(command: (app: INestApplication) => Promise<T>) => Promise<T>;
  /** As `loadModules` of Call. */
  readonly loadModules: () => Promise<void>;
  /** Standard output. */
  readonly write: (text: string) => void;
  /** Standard error. */
  readonly writeError: (text: string) => void;
}

/** A command that cannot be carried out, for a reason that only the command line has. */
export class Refusal extends Error {}

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
  | { readonly run: (app: INestApplication, call: Call<Input>) => Promise<Result> }
  /** Without the service's application, which is not started. */
  | { readonly runAlone: (call: Call<Input>) => Promise<Result> };

/** A command: how it is called, what it does, and how its result is shown. */
export type CommandDefinition<Input, Result> = Run<Input, Result> & {
  readonly name: string;
  readonly description: string;
  /** Name of its one argument, such as `<id>`, and what that is. */
  readonly argument?: readonly [name: string, description?: string];
  /** Its options. `--json` is added as the last one, unless it stands among them. */
  readonly options?: readonly Option[];
  /** How it is called, shown below its help; without the leading `petstore`. */
  readonly examples: readonly string[];
  /** Makes its input of the options, before the application is started; without it they are the input as they are. */
  readonly input?: (options: Readonly<Record<string, unknown>>) => Input | Promise<Input>;
  /** The result for people; undefined prints nothing. */
  readonly text: (result: Result, input: Input) => string | undefined;
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
  const { name, description, argument, options = [], examples } = definition;
  const hasJson = options.some(({ long }) => long === JSON_OPTION.long);
  return (parent, shell) => {
    const added = parent.command(name).description(description);
    if (argument) added.argument(...argument);
    for (const option of hasJson ? options : [...options, JSON_OPTION]) added.addOption(option);
    added.addHelpText('after', `\nExamples:\n${examples.map((call) => `  petstore ${call}`).join('\n')}`);
    added.action(() => runCommand(definition, shell, added));
  };
}

/** Declares a group of commands, such as `petstore client …`. */
export function group(name: string, description: string, commands: readonly Addition[]): Addition {
  return (parent, shell) => {
    const added = parent.command(name).description(description);
    for (const add of commands) add(added, shell);
  };
}

async function runCommand<Input, Result>(
  definition: CommandDefinition<Input, Result>,
  { withApp, loadModules, write, writeError }: Shell,
  called: Command,
): Promise<void> {
  const { json: isJson, force = false, ...options } = called.opts<{ json: boolean; force?: boolean }>();
  const input = await (definition.input?.(options) ?? (options as Input));
  const call = {
    argument: called.args[0] ?? '',
    input,
    force,
    by: commandLineOperator(),
    loadModules,
    tell: writeError,
  };
  const result =
    'run' in definition ? await withApp((app) => definition.run(app, call)) : await definition.runAlone(call);
  const { text, json = (shown: Result) => shown, refusal } = definition;
  const shown = isJson ? stringify(json(result), undefined, 2) : text(result, input);
  if (shown !== undefined) write(`${shown}\n`);
  const reason = refusal?.(result);
  if (reason !== undefined) throw new Refusal(reason);
}
