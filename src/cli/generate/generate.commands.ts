import { Option } from 'commander';
import { command, flag, group, option } from '../frame/command.js';
import { FIELD_FORMS } from './feature-fields.js';

/** A repeatable option; its value is a list. */
const FIELD = new Option(
  '--field <name:kind>',
  `a field, ending in ? if it is optional; repeatable. Kinds: ${FIELD_FORMS}`,
).argParser<string[] | undefined>((text, before = []) => [...before, text]);

/** `petstore new`: a project that depends on the service. */
export const NEW_COMMAND = command('new', {
  description: 'create a project that depends on this service',
  argument: [
    '<folder>',
    'a new folder, in lower case with hyphens, such as my-api; also the name of the package',
  ],
  options: [
    option('--title <text>', 'title of the API for its documents and pages; default: the name of the folder'),
    flag('--with-pets', 'with the catalogue of animals, as an example'),
  ],
  examples: ['new ../my-api', "new ../my-api --title 'My API' --with-pets"],
  run: async (call, folder) => (await import('./new.action.js')).newProject(call, folder),
});

/** `petstore generate …`: files for your own modules. */
export const GENERATE_COMMANDS = group('generate', 'code for your own modules', [
  command('feature', {
    description: 'write a feature: table, operations, scopes, errors, events, demo data and a suite',
    argument: ['<name>', 'plural name of the feature, in lower case with hyphens, such as adoptions'],
    options: [
      FIELD,
      option('--singular <name>', 'singular name, if it is not the plural without s'),
      flag('--webhook', 'with an event for webhooks when a row is added, such as toys.created'),
      flag('--dry-run', 'print the file names without writing the files'),
    ],
    examples: [
      'generate feature toys --field name:text:100 --field priceCents:int64',
      "generate feature adoptions --field petId:reference:pets --field adopterName:text --field 'note:text:1000?' " +
        '--field state:enum:requested,approved,declined',
    ],
    run: async (call, name) => (await import('./feature.action.js')).feature(call, name),
  }),
  command('migration', {
    description: 'write a migration for the differences between the entities and the migrations',
    argument: ['<path>', 'the feature’s folder below src and a name, such as toys/toys-colour'],
    examples: ['generate migration toys/toys-colour'],
    run: async (call, path) => (await import('./migration.action.js')).migration(call, path),
  }),
]);
