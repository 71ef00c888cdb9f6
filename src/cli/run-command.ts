import type { Command } from 'commander';
import { stringify } from 'lossless-json';
import { SystemClock } from '../core/time/clock.js';
import type { Action, Call } from './action.js';
import { commandLineOperator } from './command-line-operator.js';
import { agreed, nobodyToAsk } from './confirmation.js';
import { asId } from './options.js';
import { secretLine } from './prompt.js';
import { Refusal } from './refusal.js';
import type { Shell } from './shell.js';

/** What a command is declared to do with what it reads and writes. */
export interface RunOptions {
  /** Whether it changes anything, which stays changed when its result cannot be written. */
  readonly changes?: true;
  /**
   * The argument, or the option by its name in camel case, that may be `-` for one line of standard input, so that no secret stands
   * in a list of processes or in the history of a shell; and what prompts and errors call it.
   */
  readonly secret?: { readonly of: string; readonly title: string };
}

/** Options that say how a command runs and is shown. */
interface General {
  readonly json: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly wide?: boolean;
}

/** The options of a command's own. */
export function valuesOf(called: Command): Record<string, unknown> {
  const { json: _json, force: _force, yes: _yes, wide: _wide, ...values } = called.opts<General>();
  return values;
}

/** Carries a command out as it was called, and shows its result. Throws what refuses it. */
export async function runCommand<Input, Result>(
  { secret, changes }: RunOptions,
  action: Action<Input, Result>,
  shell: Shell,
  called: Command,
): Promise<void> {
  const { json: isJson, force = false, yes = false, wide: isWide = false } = called.opts<General>();
  const read: Record<string, unknown> & { argument: string } = {
    ...valuesOf(called),
    argument: asId(called.args[0] ?? ''),
  };
  if (secret && read[secret.of] === '-') read[secret.of] = await secretOf(secret.title, shell);
  const { argument, ...values } = read;
  const input = await (action.input?.(values) ?? (values as Input));
  const call: Call<Input> = {
    argument,
    input,
    force,
    by: commandLineOperator(),
    loadModules: shell.loadModules,
    tell: shell.writeError,
  };
  const result = await resultOf(action, call, shell, yes);
  const { text, json = (shown: Result) => shown, refusal } = action;
  const { screen } = shell;
  const view = { isWide, now: new SystemClock().now(), ...(screen ? { screen } : {}) };
  const shown = isJson ? stringify(json(result), undefined, 2) : text(result, input, view);
  if (shown !== undefined) {
    shell.write(`${shown}\n`);
    tellLost(await shell.flushed?.(), changes === true, shell);
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
  action: Action<Input, Result>,
  call: Call<Input>,
  shell: Shell,
  yes: boolean,
): Promise<Result> {
  const isAsked = !yes && action.confirm !== undefined && (action.confirm.when?.(call.input) ?? true);
  // Before the application is started, which may migrate a database.
  if (isAsked && !shell.prompt && !('runAlone' in action)) throw nobodyToAsk();
  if ('runAlone' in action) {
    if (isAsked) await agreed(await action.confirm?.question(call), shell.prompt);
    return action.runAlone(call);
  }
  return shell.withApp(async (app) => {
    if (isAsked) await agreed(await action.confirm?.question(app, call), shell.prompt);
    return action.run(app, call);
  });
}

async function secretOf(title: string, { prompt, readLine }: Shell): Promise<string> {
  if (prompt) return secretLine(await prompt(`${title}: `, 'hidden'), title);
  if (!readLine) throw new Refusal(`${title}: There is no standard input to read.`);
  return readLine(title);
}
