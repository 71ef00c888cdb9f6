import { command, flag, group, list, option } from './frame/command.js';

/** `petstore webhook listen`, which is not an operation of the API. */
export const WEBHOOK_COMMANDS = group('webhook', '', [
  command('listen', {
    description:
      'create a temporary endpoint, print its messages, and forward them to a program on this machine',
    options: [
      option('--forward <url>', 'URL to forward messages to, such as http://localhost:4000/webhooks'),
      option(
        '--client <client>',
        'id or name of the client whose events to receive; default: the only client',
      ),
      list('--events <a,b>', 'events to receive, separated by commas; `webhook events` lists them'),
      flag('--json', 'print each message as one line of JSON'),
    ],
    hasNoJson: true,
    examples: [
      'webhook listen --forward http://localhost:4000/webhooks',
      'webhook listen --events api_key.banned',
    ],
    run: async (call) => (await import('./webhook-listen.action.js')).listen(call),
  }),
]);
