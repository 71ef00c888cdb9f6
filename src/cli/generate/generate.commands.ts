import { group } from '../command.js';
import { MIGRATION_COMMAND } from './migration.command.js';

/** `petstore generate …`: files of a module of your own. */
export const GENERATE_COMMANDS = group('generate', 'files of a module of your own', [MIGRATION_COMMAND]);
