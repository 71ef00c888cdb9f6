import { command } from '../command.js';
import { ListOption, RepeatableOption, flag, option } from '../options.js';
import { OPERATIONS, parseField, parseOperations, parseState } from './feature-plan.js';

/** `petstore generate feature`: a whole feature, with its table and its suite. */
export const FEATURE_COMMAND = command({
  name: 'feature',
  changes: true,
  description: 'write a feature: table, operations, scopes, errors, events, demo data and a suite',
  argument: ['<name>', 'the feature in the plural, in lower case with hyphens, such as adoptions'],
  options: [
    new RepeatableOption(
      '--field <name:kind>',
      'a field, such as name:text:100, petId:int64:ref=pets, size:integer:1..9, colour:enum:red,blue, at:instant, ' +
        'token:uuid; with ? at the end when it may be absent; repeatable',
      parseField,
    ),
    option(
      '--state <a,b,c>',
      'a field `state` of these values in their order: it begins with the first, and can become those behind the one that it has',
      parseState,
    ),
    new ListOption(
      '--ops <a,b,c>',
      `operations; default: ${OPERATIONS.join(',')}`,
      () => OPERATIONS,
      parseOperations,
    ),
    option('--singular <name>', 'one of them, where leaving out the s of the plural is wrong'),
    flag('--dry-run', 'print the names of the files and write nothing'),
    option(
      '--no-docs',
      'leave the generated docs as they are; else the project is built for them',
      undefined,
      true,
    ),
  ],
  examples: [
    'generate feature toys --field name:text:100 --field priceCents:int64',
    'generate feature adoptions --field petId:int64:ref=pets --field adopterName:text:255 --field note:text:1000? ' +
      '--state requested,approved,declined --ops list,create,get,update,delete',
  ],
  action: async () => (await import('./feature.action.js')).feature,
});
