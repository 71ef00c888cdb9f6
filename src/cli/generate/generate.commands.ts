import { group } from '../command.js';
import { FEATURE_COMMAND } from './feature.command.js';
import { MIGRATION_COMMAND } from './migration.command.js';

/** `petstore generate …`: files of a module of your own. */
export const GENERATE_COMMANDS = group('generate', 'files of a module of your own', [
  FEATURE_COMMAND,
  MIGRATION_COMMAND,
]);
