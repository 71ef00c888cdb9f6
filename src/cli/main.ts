import 'reflect-metadata';
import { Command, CommanderError } from 'commander';
import { RefusedCommand } from '../auth/refused-command.js';
import { SettingsError } from '../config/setting.js';
import { addClientCommands } from './client.commands.js';
import { addDbCommands } from './db.commands.js';
import { addKeyCommands } from './key.commands.js';
import { addOpenApiCommand } from './openapi.command.js';

/** Exit codes: done, refused with the reason on stderr, not a call of this command. */
const DONE = 0;
const REFUSED = 1;
const USAGE = 2;

const program = new Command('petstore')
  .description('Administers the Pet Store Service on the database that DATABASE_URL names.')
  .showHelpAfterError('(--help shows how to call it)')
  .configureHelp({ showGlobalOptions: true })
  .exitOverride();

for (const add of [addClientCommands, addKeyCommands, addDbCommands, addOpenApiCommand]) add(program);
for (const group of program.commands) exitWithCodes(group);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Commander ends the process itself unless each command is told otherwise. */
function exitWithCodes(command: Command): void {
  command.exitOverride().showHelpAfterError('(--help shows how to call it)');
  for (const child of command.commands) exitWithCodes(child);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE;
  if (error instanceof SettingsError) process.stderr.write(`The settings are wrong:\n${error.message}\n`);
  else if (error instanceof RefusedCommand) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`Failed: ${error instanceof Error ? error.message : String(error)}\n`);
  return REFUSED;
}
