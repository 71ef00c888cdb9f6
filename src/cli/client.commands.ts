import { PLANS } from '../throttling/plans.js';
import { FORCE, JSON_OPTION, command, group } from './command.js';
import { DAYS, WIDE, option, positiveInteger, required } from './options.js';

const actions = () => import('./client.actions.js');

const ID = ['<id>'] as const;
const NAME = required('--name <name>', 'name of the client, 1 to 255 characters');
const PLAN_AND_LIMITS = [
  required('--plan <plan>', 'plan that sets the limits').choices(PLANS),
  option(
    '--per-minute <requests>',
    'requests per minute; enterprise only, and required there',
    positiveInteger,
  ),
  option(
    '--per-day <requests>',
    'requests per UTC day; enterprise only, and required there',
    positiveInteger,
  ),
];

const create = command({
  name: 'create',
  changes: true,
  description: 'make a client',
  options: [...PLAN_AND_LIMITS, JSON_OPTION, NAME],
  examples: [
    `client create --name 'My shop' --plan pro`,
    `client create --name 'Big shop' --plan enterprise --per-minute 5000 --per-day 500000`,
  ],
  action: async () => (await actions()).create,
});

const list = command({
  name: 'list',
  description: 'show clients, oldest first',
  options: [option('--name <text>', 'only those whose name holds this text; A to Z in either case'), WIDE],
  examples: ['client list', 'client list --name shop', 'client list --json'],
  action: async () => (await actions()).list,
});

const show = command({
  name: 'show',
  argument: ID,
  description: 'show a client and what it has used: both windows now, bans, last use, and its last days',
  options: [DAYS],
  examples: ['client show <id>', 'client show <id> --days 30 --json'],
  action: async () => (await actions()).show,
});

const setPlan = command({
  name: 'set-plan',
  changes: true,
  argument: ID,
  description: 'move a client to another plan; what it has used stays used',
  options: PLAN_AND_LIMITS,
  examples: ['client set-plan <id> --plan business'],
  action: async () => (await actions()).setPlan,
});

const rename = command({
  name: 'rename',
  changes: true,
  argument: ID,
  description: 'give a client another name',
  options: [NAME],
  examples: [`client rename <id> --name 'My other shop'`],
  action: async () => (await actions()).rename,
});

const suspend = command({
  name: 'suspend',
  changes: true,
  argument: ID,
  description: 'refuse all keys of a client with 403 client_suspended until it is resumed',
  options: [FORCE],
  examples: ['client suspend <id>'],
  action: async () => (await actions()).suspend,
});

const resume = command({
  name: 'resume',
  changes: true,
  argument: ID,
  description: 'take the keys of a suspended client again',
  examples: ['client resume <id>'],
  action: async () => (await actions()).resume,
});

const remove = command({
  name: 'delete',
  changes: true,
  asks: true,
  argument: ID,
  description: 'delete a client with all its keys, for good; the audit trail stays',
  options: [FORCE],
  examples: ['client delete <id>'],
  action: async () => (await actions()).remove,
});

/** `petstore client …`: the accounts that hold a plan. */
export const CLIENT_COMMANDS = group('client', 'accounts that hold a plan and own keys', [
  create,
  list,
  show,
  setPlan,
  rename,
  suspend,
  resume,
  remove,
]);
