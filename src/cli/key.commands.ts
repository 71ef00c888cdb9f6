import { command, group } from './frame/command.js';

/** `petstore key verify`, which is not an operation of the API. */
export const KEY_COMMANDS = group('key', '', [
  command('verify', {
    description: 'check the format and checksum of a key, without using the database',
    argument: ['<string>', 'the string to check; - reads it from standard input'],
    examples: ['key verify <string>', 'key verify - < found.txt'],
    run: async (call, text = '') => (await import('./key-verify.action.js')).verify(call, text),
  }),
]);
