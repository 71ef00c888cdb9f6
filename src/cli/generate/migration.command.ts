import { command } from '../command.js';

/** `petstore generate migration`: a migration for what changed in the entities. */
export const MIGRATION_COMMAND = command({
  name: 'migration',
  changes: true,
  description: 'write a migration for what the entities have and the migrations do not',
  argument: ['<path>', 'the feature’s folder below src and a name, such as toys/toys-colour'],
  examples: ['generate migration toys/toys-colour'],
  action: async () => (await import('./migration.action.js')).migration,
});
