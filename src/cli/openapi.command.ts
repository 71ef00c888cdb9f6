import { command, flag, option } from './frame/command.js';

/** `petstore openapi`: the OpenAPI documents. */
export const OPENAPI_COMMAND = command('openapi', {
  description: 'write the OpenAPI document as JSON',
  options: [
    flag('--admin', 'write the document of the administration instead of the API'),
    flag('--account', 'write the document of self-service instead of the API'),
    option('--out <file>', 'output file; default: standard output'),
  ],
  examples: ['openapi --out openapi.json', 'openapi --admin', 'openapi --account'],
  run: async (call) => (await import('./openapi.action.js')).openapi(call),
});
