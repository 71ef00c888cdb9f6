import { CLIENT, WIDE, YES, command, flag, group, list, option } from './frame/command.js';

const actions = () => import('./webhook.actions.js');

const OF_ENDPOINT = ['<endpoint>', 'id of the endpoint'] as const;
const OF_DELIVERY = ['<delivery>', 'id of the delivery'] as const;
const URL = option('--url <url>', 'URL that messages are sent to, such as https://shop.example.com/webhooks');
const EVENTS = list(
  '--events <a,b>',
  'events that it receives, separated by commas; `webhook events` lists them',
);
const LABEL = option('--label <label>', 'label, 1 to 255 characters');

/** `petstore webhook …`: webhook endpoints. */
export const WEBHOOK_COMMANDS = group('webhook', 'webhook endpoints: URLs that receive events', [
  command('create', {
    description: 'create an endpoint of a client; its secret is shown only once',
    options: [
      option('--client <client>', 'client that it belongs to, by its id or name'),
      URL,
      EVENTS,
      LABEL,
    ],
    examples: [
      `webhook create --client 'My shop' --url https://shop.example.com/webhooks --events quota.threshold`,
    ],
    run: async (call) => (await actions()).create(call),
  }),
  command('list', {
    description: 'list endpoints, oldest first, without their secrets',
    options: [CLIENT, WIDE],
    examples: ['webhook list', `webhook list --client 'My shop' --json`],
    run: async (call) => (await actions()).list(call),
  }),
  command('show', {
    description: 'show an endpoint, whether it fails, and how many messages wait for it',
    argument: OF_ENDPOINT,
    examples: ['webhook show <id>'],
    run: async (call, id) => (await actions()).show(call, id),
  }),
  command('update', {
    description: 'change the address, the events or the label of an endpoint',
    argument: OF_ENDPOINT,
    options: [URL, EVENTS, LABEL],
    examples: ['webhook update <id> --events api_key.expiring,quota.threshold'],
    run: async (call, id) => (await actions()).update(call, id),
  }),
  command('test', {
    description: 'send a test message, after the waiting messages',
    argument: OF_ENDPOINT,
    examples: ['webhook test <id>'],
    run: async (call, id) => (await actions()).test(call, id),
  }),
  command('disable', {
    description: 'stop sending to an endpoint until an operator enables it',
    argument: OF_ENDPOINT,
    examples: ['webhook disable <id>'],
    run: async (call, id) => (await actions()).turn(call, id, false),
  }),
  command('enable', {
    description: 'enable an endpoint and continue with its waiting messages',
    argument: OF_ENDPOINT,
    examples: ['webhook enable <id>'],
    run: async (call, id) => (await actions()).turn(call, id, true),
  }),
  command('rotate', {
    description: 'create a new secret; messages are signed with both until the grace period is over',
    argument: OF_ENDPOINT,
    options: [
      option(
        '--grace <duration>',
        'how long messages are also signed with old secrets; default: 24h; 0 ends them at once',
      ),
      YES,
    ],
    examples: ['webhook rotate <id>', 'webhook rotate <id> --grace 0'],
    run: async (call, id) => (await actions()).rotate(call, id),
  }),
  command('delete', {
    description: 'delete an endpoint with its log; waiting messages are never sent',
    argument: OF_ENDPOINT,
    options: [YES],
    examples: ['webhook delete <id>'],
    run: async (call, id) => (await actions()).remove(call, id),
  }),
  command('deliveries', {
    description:
      'list the deliveries of an endpoint, latest first, with the number of attempts and the last response',
    argument: OF_ENDPOINT,
    options: [
      option('--state <state>', 'only those in this state', ['waiting', 'delivered', 'failed']),
      option('--limit <deliveries>', 'maximum number; default: 100'),
      WIDE,
    ],
    examples: ['webhook deliveries <id>', 'webhook deliveries <id> --state failed --json'],
    run: async (call, id) => (await actions()).deliveries(call, id),
  }),
  command('delivery', {
    description: 'show one delivery with its body',
    argument: OF_DELIVERY,
    examples: ['webhook delivery 42'],
    run: async (call, id) => (await actions()).delivery(call, id),
  }),
  command('redeliver', {
    description: 'send the message of a delivery again, after the waiting messages',
    argument: OF_DELIVERY,
    examples: ['webhook redeliver 42'],
    run: async (call, id) => (await actions()).redeliver(call, id),
  }),
  command('events', {
    description: 'show the events that endpoints can subscribe to',
    examples: ['webhook events'],
    run: async (call) => (await actions()).events(call),
  }),
  command('listen', {
    description:
      'create a temporary endpoint, print its messages, and forward them to a program on this machine',
    options: [
      option('--forward <url>', 'URL to forward messages to, such as http://localhost:4000/webhooks'),
      option(
        '--client <client>',
        'client whose events to receive, by its id or name; default: the only client',
      ),
      EVENTS,
      flag('--json', 'print each message as one line of JSON'),
    ],
    hasNoJson: true,
    examples: [
      'webhook listen --forward http://localhost:4000/webhooks',
      'webhook listen --events quota.threshold',
    ],
    run: async (call) => (await import('./webhook-listen.action.js')).listen(call),
  }),
]);
