import { command, flag, option } from './frame/command.js';

/** `petstore openapi`: the OpenAPI documents. */
export const OPENAPI_COMMAND = command('openapi', {
  description: 'write the OpenAPI document as JSON',
  options: [
    flag('--admin', 'the document of administration instead of that of the API'),
    flag('--account', 'the document of self-service instead of that of the API'),
    option('--out <file>', 'file to write; default: standard output'),
  ],
  examples: ['openapi --out openapi.json', 'openapi --admin', 'openapi --account'],
  run: async (call) => (await import('./openapi.action.js')).openapi(call),
});
