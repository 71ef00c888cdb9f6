import type { ClientUsageDto } from '../dto/client-usage.dto.js';

/** Text of a command, or a function that creates it from the options and, once the command has run, from the result. */
type Text = string | ((options: Readonly<Record<string, unknown>>, result: never) => string);

/** Facts about a command that are not in the OpenAPI document. In texts, `{name}` is a property of the result, or of the changed object. */
export interface CommandFacts {
  readonly operation: string;
  /** Its description, if it differs from the first sentence of the operation's. */
  readonly text?: string;
  /** Parameters that are arguments; by default those of the path. */
  readonly arguments?: readonly string[];
  /** The parameters and members that are options; by default all. */
  readonly options?: readonly string[];
  /** Members of every request. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** Default number of listed entries; by default all. */
  readonly limit?: number;
  /** The properties to show, separated by spaces; by default all. For a single object, one that ends in `?` is omitted while it is null. */
  readonly columns?: string;
  /** Columns computed from other properties, by title. */
  readonly cells?: Readonly<Record<string, (row: never) => unknown>>;
  /** The error message for an empty list; by default, the empty list is shown. */
  readonly none?: string;
  /** The confirmation prompt for an irreversible change. */
  readonly question?: Text;
  /** The option that makes the change irreversible, with its value unless any value does; by default, the change always is. */
  readonly confirmation?: readonly [option: string, value?: string];
  /** The message after the change. Without `columns`, nothing else is shown. */
  readonly done?: Text;
  /** Whether the result is printed as JSON, also without `--json`. */
  readonly isDocument?: true;
  /** Whether it runs when only its group is named. */
  readonly isDefault?: true;
  /** Whether it creates a missing database. */
  readonly createsDatabase?: true;
}

const KEY = 'prefix clientName scopes label expiresAt revokedAt lastUsedAt id clientId replacedBy?';
const ENDPOINT =
  'id url clientName enabled disabledBecause? lastError? failingSince? nextAttemptAt? events label createdAt';
const REQUEST = 'at clientName operation status code keyPrefix address requestId';
const SOON = 'running servers apply this within 1 s.';
const SENT =
  'The delivery {id} is waiting for the running service to send it. `petstore webhook delivery {id}` shows the result.';
const KEY_NAME = 'the key {id} ({prefix}…)';
const OF_PLAN = ['plan', 'perMinute', 'perDay'];

/** An entry of the audit trail. */
interface AuditRow {
  readonly details: Readonly<Record<string, unknown>>;
}

/** Details of a change without ids that other columns show. */
function withoutIds(details: AuditRow['details']): object {
  const named = Object.entries(details).filter(([name]) => name !== 'endpointId' && name !== 'replacedBy');
  return Object.fromEntries(named);
}

/** Requests of a client in its current window of this name, with the limit. */
const used =
  (name: string) =>
  ({ windows }: ClientUsageDto) =>
    windows.flatMap((one) => (one.name === name ? `${one.used}/${one.limit}` : []));

/** The commands for the platform's operations, by group and command, in the order of the help. */
export const OPERATION_TABLE: Readonly<Record<string, CommandFacts>> = {
  'overview show': { operation: 'getOverview', isDefault: true },
  'overview search': {
    operation: 'search',
    arguments: ['text'],
    columns: 'kind title clientName clientId id',
  },
  'client create': { operation: 'createClient', createsDatabase: true },
  'client list': { operation: 'listClients', columns: 'id name plan perMinute perDay createdAt suspendedAt' },
  'client show': {
    operation: 'getClient',
    columns:
      'id name plan perMinute perDay createdAt suspendedAt? lastUsedAt keyExpiresAt? windows bans days operations deprecatedCalls',
  },
  'client set-plan': { operation: 'updateClient', text: 'Moves a client to another plan', options: OF_PLAN },
  'client rename': { operation: 'updateClient', text: 'Renames a client', options: ['name'] },
  'client suspend': { operation: 'suspendClient', done: `Suspended the client {name}; ${SOON}` },
  'client resume': { operation: 'resumeClient', done: `Resumed the client {name}; ${SOON}` },
  'client delete': {
    operation: 'deleteClient',
    question: ({ erase }) =>
      `Delete the client {id} ({name}) with all its keys${erase ? ', and its names in the audit trail,' : ''} permanently`,
    done: ({ erase }) =>
      erase
        ? 'Deleted the client {id} and its keys, and erased its names from the audit trail.'
        : 'Deleted the client {id} ({name}) and its keys. `petstore client erase {id}` erases its names from the audit trail.',
  },
  'client export': { operation: 'exportClient', isDocument: true },
  'client erase': {
    operation: 'eraseClient',
    question: 'Erase the names of the deleted client from the audit trail permanently',
    done: 'Erased the client {id} from {entries} entries of the audit trail.',
  },
  'plan list': { operation: 'listPlans', columns: 'plan perMinute perDay' },
  'key issue': { operation: 'issueKey', done: 'Issued the key {id} with {scopes}.' },
  'key list': { operation: 'listKeys', options: ['client', 'state'], columns: KEY },
  'key show': { operation: 'getKey', columns: `${KEY} createdAt bannedUntil?` },
  'key update': {
    operation: 'updateKey',
    columns: KEY,
    question: `Let ${KEY_NAME} expire in {expires} permanently`,
    confirmation: ['expires'],
  },
  'key rotate': {
    operation: 'rotateKey',
    question: `Rotate ${KEY_NAME} and revoke the old key immediately`,
    confirmation: ['grace', '0'],
    done: 'Created its successor, the key {id}. The old key expires at {oldExpiresAt}.',
  },
  'key unban': {
    operation: 'unbanKey',
    done: 'The key {id} ({prefix}…) is no longer banned, and its strikes are reset.',
  },
  'key revoke': {
    operation: 'revokeKey',
    question: `Revoke ${KEY_NAME} permanently`,
    done: `Revoked the key {id} ({prefix}…); ${SOON}`,
  },
  'scope list': { operation: 'listScopes', columns: 'name description grantedByDefault' },
  'usage list': {
    operation: 'listUsage',
    columns: 'id name plan',
    cells: {
      'this minute': used('minute'),
      today: used('day'),
      requests: ({ days }: ClientUsageDto) => days.reduce((sum, day) => sum + day.requests, 0),
      'refused (60 min)': ({ outcomes }: ClientUsageDto) =>
        outcomes.reduce((sum, one) => sum + (one.outcome.startsWith('429') ? one.lastHour : 0), 0),
      'last used': ({ lastUsedAt }: ClientUsageDto) => lastUsedAt,
      'key expires': ({ keyExpiresAt }: ClientUsageDto) => keyExpiresAt,
      'deprecated calls': ({ deprecatedCalls }: ClientUsageDto) =>
        deprecatedCalls.map(({ calls, operation }) => `${calls} ${operation}`),
    },
  },
  'request list': {
    operation: 'listRefusedRequests',
    options: ['client', 'outcome', 'code'],
    limit: 100,
    columns: REQUEST,
  },
  'request show': {
    operation: 'listRefusedRequests',
    text: 'Shows a request that failed, by its X-Request-Id',
    arguments: ['requestId'],
    options: [],
    columns: REQUEST,
    cells: {
      'cause and remedy': ({ code }: { readonly code: string | null }) =>
        code === null ? null : `/docs/errors#${code}`,
    },
    none: 'No request {requestId} was found. Only the last 200 errors of each client are stored, for USAGE_RETENTION_DAYS. Requests without a client’s key appear only in the log, which can be incomplete because of ACCESS_LOG and the limit on lines per address.',
  },
  'audit list': {
    operation: 'listAudit',
    limit: 100,
    columns: 'at action actor actorName clientName keyPrefix endpointName from',
    cells: {
      details: ({ details }: AuditRow) => withoutIds(details),
    },
  },
  'audit export': { operation: 'exportAudit' },
  'webhook create': { operation: 'createWebhook', done: 'Created the endpoint {id}.' },
  'webhook list': {
    operation: 'listWebhooks',
    options: ['client', 'state'],
    columns: ENDPOINT,
  },
  'webhook show': {
    operation: 'getWebhook',
    columns: `${ENDPOINT} clientId previousSecretUntil? waiting`,
  },
  'webhook update': {
    operation: 'updateWebhook',
    text: 'Changes the URL, the events or the label of an endpoint',
    options: ['url', 'events', 'label'],
  },
  'webhook disable': {
    operation: 'updateWebhook',
    text: 'Stops sending to an endpoint until an operator enables it',
    options: [],
    fixed: { enabled: false },
    done: 'The endpoint was disabled.',
  },
  'webhook enable': {
    operation: 'updateWebhook',
    text: 'Enables an endpoint and sends its waiting messages',
    options: [],
    fixed: { enabled: true },
    done: (_, { nextAttemptAt }: { readonly nextAttemptAt: string | null }) =>
      nextAttemptAt === null
        ? 'The endpoint was enabled, and its waiting messages are being sent.'
        : 'The endpoint was already enabled, so nothing has changed. It is failing, and its next attempt is due at {nextAttemptAt}. ' +
          'To retry now, run `petstore webhook retry {id}`.',
  },
  'webhook rotate': {
    operation: 'rotateWebhookSecret',
    question: 'Invalidate the old secrets of the endpoint {id} immediately',
    confirmation: ['grace', '0'],
    done: 'The endpoint {id} has a new secret.',
  },
  'webhook delete': {
    operation: 'deleteWebhook',
    question: 'Delete the endpoint {id} ({url}) with its log permanently',
    done: 'Deleted the endpoint {id}.',
  },
  'webhook test': { operation: 'testWebhook', done: SENT },
  'webhook deliveries': {
    operation: 'listWebhookDeliveries',
    limit: 100,
    columns: 'id event state attempts status error attemptedAt happenedAt messageId',
  },
  'webhook delivery': { operation: 'getWebhookDelivery', arguments: ['deliveryId'] },
  'webhook redeliver': { operation: 'redeliverWebhook', arguments: ['deliveryId'], done: SENT },
  'webhook retry': {
    operation: 'retryWebhook',
    done: 'The endpoint {id} is being retried. `petstore webhook show {id}` shows the result.',
  },
  'webhook retry-delivery': { operation: 'retryWebhookDelivery', arguments: ['deliveryId'], done: SENT },
  'webhook events': { operation: 'listWebhookEvents', columns: 'name scope description' },
};
