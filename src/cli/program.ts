import { Command, CommanderError } from 'commander';
import { ApiError } from '../errors/api-error.js';
import { HTTP_ERRORS } from '../errors/http.errors.js';
import { addAuditCommands } from './audit.commands.js';
import { addClientCommands } from './client.commands.js';
import { addDbCommands } from './db.commands.js';
import { addDoctorCommand } from './doctor.command.js';
import { addKeyCommands } from './key.commands.js';
import { addOpenApiCommand } from './openapi.command.js';
import { reasonOf } from './refusal.js';
import type { Shell } from './shell.js';
import { addUsageCommands } from './usage.commands.js';

/** Exit codes: done, refused with the reason on standard error, not a call of this command or not a value it takes. */
const DONE = 0;
const REFUSED = 1;
const USAGE = 2;

/** The petstore command with all its groups. */
export function petstoreProgram(shell: Shell): Command {
  const program = new Command('petstore').description(
    'Administers the Pet Store Service on the database that DATABASE_URL names.',
  );
  addClientCommands(program, shell);
  addKeyCommands(program, shell);
  addUsageCommands(program, shell);
  addAuditCommands(program, shell);
  addDbCommands(program, shell);
  addOpenApiCommand(program, shell);
  addDoctorCommand(program, shell);
  configure(program, shell);
  return program;
}

/** Runs the command with the arguments behind its name and answers the exit code. */
export async function runPetstore(args: readonly string[], shell: Shell): Promise<number> {
  try {
    await petstoreProgram(shell).parseAsync(args, { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE;
    shell.complain(`${reasonOf(error)}\n`);
    return isOfValue(error) ? USAGE : REFUSED;
  }
}

/** Whether an option has a value that the command cannot take, however deep that was found. */
function isOfValue(error: unknown): boolean {
  return error instanceof ApiError && error.code === HTTP_ERRORS.validation_failed.code;
}

/** Commander ends the process itself, and writes where it likes, unless each command is told otherwise. */
function configure(command: Command, shell: Shell): void {
  command
    .exitOverride()
    .showHelpAfterError('(--help shows how to call it)')
    .configureOutput({ writeOut: shell.write, writeErr: shell.complain });
  for (const child of command.commands) configure(child, shell);
}
