import { command } from './command.js';
import { flag, option } from './options.js';

/** `petstore openapi`: the OpenAPI documents. */
export const OPENAPI_COMMAND = command({
  name: 'openapi',
  description: 'write the OpenAPI document, as JSON',
  options: [
    flag('--admin', 'the document of the administration instead of that of the API'),
    flag('--account', 'the document of self-service'),
    option('--out <file>', 'file to write; default: standard output'),
    option('--json', 'no effect: the document is JSON'),
  ],
  examples: ['openapi --out openapi.json', 'openapi --admin', 'openapi --account'],
  action: async () => (await import('./openapi.action.js')).openapi,
});
