import { PLANS } from '../throttling/plans.js';
import { DAYS, FORCE, WIDE, YES, command, flag, group, option } from './frame/command.js';
import { SCOPES } from './key.commands.js';

const actions = () => import('./client.actions.js');

const OF_CLIENT = ['<client>', 'id or name of the client'] as const;
const NAME = option('--name <name>', 'name of the client, 1 to 255 characters');
const PLAN_AND_LIMITS = [
  option('--plan <plan>', 'plan that sets the limits', PLANS),
  option('--per-minute <requests>', 'requests per minute; enterprise only, and required there'),
  option('--per-day <requests>', 'requests per UTC day; enterprise only, and required there'),
];

/** `petstore client …`: clients. */
export const CLIENT_COMMANDS = group('client', 'accounts with a plan and keys', [
  command('create', {
    description: 'create a client, and its first key on request',
    options: [
      NAME,
      ...PLAN_AND_LIMITS,
      flag('--issue-key', 'also create a key, which is shown only once'),
      SCOPES,
    ],
    examples: [
      `client create --name 'My shop' --plan pro --issue-key`,
      `client create --name 'Big shop' --plan enterprise --per-minute 5000 --per-day 500000`,
    ],
    run: async (call) => (await actions()).create(call),
  }),
  command('list', {
    description: 'show clients, oldest first',
    options: [
      option('--name <text>', 'only clients whose name contains this text; A to Z match in either case'),
      WIDE,
    ],
    examples: ['client list', 'client list --name shop', 'client list --json'],
    run: async (call) => (await actions()).list(call),
  }),
  command('show', {
    description: 'show a client and its usage: the current minute and day, bans, last use, and past days',
    argument: OF_CLIENT,
    options: [DAYS],
    examples: [`client show 'My shop'`, 'client show <id> --days 30 --json'],
    run: async (call, client) => (await actions()).show(call, client),
  }),
  command('set-plan', {
    description: 'move a client to another plan; its usage so far still counts',
    argument: OF_CLIENT,
    options: PLAN_AND_LIMITS,
    examples: ['client set-plan <id> --plan business'],
    run: async (call, client) => (await actions()).setPlan(call, client),
  }),
  command('rename', {
    description: 'give a client another name',
    argument: OF_CLIENT,
    options: [NAME],
    examples: [`client rename 'My shop' --name 'My other shop'`],
    run: async (call, client) => (await actions()).rename(call, client),
  }),
  command('suspend', {
    description: 'refuse all keys of a client with 403 client_suspended until it is resumed',
    argument: OF_CLIENT,
    options: [FORCE],
    examples: ['client suspend <id>'],
    run: async (call, client) => (await actions()).suspend(call, client),
  }),
  command('resume', {
    description: 'accept the keys of a suspended client again',
    argument: OF_CLIENT,
    examples: ['client resume <id>'],
    run: async (call, client) => (await actions()).resume(call, client),
  }),
  command('delete', {
    description: 'delete a client with all its keys, for good; the audit trail stays',
    argument: OF_CLIENT,
    options: [FORCE, YES],
    examples: ['client delete <id>'],
    run: async (call, client) => (await actions()).remove(call, client),
  }),
]);
