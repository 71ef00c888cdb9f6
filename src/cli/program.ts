import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { projectSettings } from '#project-modules';
import { softwareVersion } from '../core/software-version.js';
import { KEY_COMMANDS } from './key.commands.js';
import { COMPLETION_COMMANDS } from './completion/completion.commands.js';
import { DB_COMMANDS } from './db.commands.js';
import { DOCTOR_COMMAND } from './doctor.command.js';
import { GENERATE_COMMANDS, NEW_COMMAND } from './generate/generate.commands.js';
import { OPENAPI_COMMAND } from './openapi.command.js';
import { OUTBOX_COMMANDS } from './outbox.commands.js';
import { COMMON, REMOTE } from './frame/command.js';
import { Interrupted } from './frame/prompt.js';
import { operationCommands } from './operations/operation-commands.js';
import { operationsOf } from './operations/operations.js';
import { Refusal } from '../core/refusal.js';
import { WEBHOOK_COMMANDS } from './webhook.commands.js';
import type { Shell } from './frame/shell.js';
import { printableLines } from './frame/table.js';

/** The commands that are not API operations, in the order of the help. */
const COMMANDS = [
  KEY_COMMANDS,
  WEBHOOK_COMMANDS,
  OUTBOX_COMMANDS,
  DB_COMMANDS,
  OPENAPI_COMMAND,
  DOCTOR_COMMAND,
  NEW_COMMAND,
  GENERATE_COMMANDS,
  COMPLETION_COMMANDS,
];

/** Exit codes: success; refused, with the reason on standard error; usage error or invalid value; Ctrl-C at a prompt. */
const DONE = 0;
const REFUSED = 1;
const USAGE = 2;
const INTERRUPTED = 130;

/** The petstore command with all its groups. */
export function petstoreProgram(shell: Shell): Command {
  const program = new Command('petstore')
    .description(
      `Administers ${projectSettings()['API_TITLE'] ?? 'the service'} in the database given by DATABASE_URL.`,
    )
    .version(softwareVersion(), '-V, --version', 'print the version of the service');
  for (const one of REMOTE) program.addOption(one);
  // A command may then have an option of the same name.
  program.enablePositionalOptions();
  for (const add of [...operationCommands(operationsOf(shell.operations)), ...COMMANDS]) add(program, shell);
  configure(program, shell);
  return program;
}

/** Runs a command with these arguments and returns the exit code. */
export async function runPetstore(args: readonly string[], shell: Shell): Promise<number> {
  try {
    await petstoreProgram(shell).parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof InvalidArgumentError) {
      shell.writeError(`${error.message}\n`);
      return USAGE;
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE;
    if (error instanceof Interrupted) {
      shell.writeError('Nothing was changed.\n');
      return INTERRUPTED;
    }
    if (error instanceof Refusal) {
      shell.writeError(`${printableLines(error.message)}\n`);
      return REFUSED;
    }
    // Imported only here, because it loads the error catalogue of the whole service.
    const { isOfValue, reasonOf } = await import('./frame/failure.js');
    shell.writeError(`${printableLines(reasonOf(error))}\n`);
    return isOfValue(error) ? USAGE : REFUSED;
  }
}

/** The options that only this command has, because a value may have been given without its option. */
function optionsOf({ options, parent }: Command): string {
  const own = options.filter((one) => parent && !COMMON.has(one)).map(({ long }) => long);
  return own.length === 0 ? '' : `options: ${own.join(', ')}; `;
}

/** Makes each command throw instead of exiting, and write to the shell instead of the process's streams. */
function configure(command: Command, shell: Shell): void {
  command
    .exitOverride()
    .showHelpAfterError(`(${optionsOf(command)}--help shows how to call it)`)
    .configureOutput({ writeOut: (text) => void shell.write(text), writeErr: shell.writeError });
  for (const child of command.commands) configure(child, shell);
}
