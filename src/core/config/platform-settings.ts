import { DEFAULT_POOL, DEFAULT_STATEMENT_TIMEOUT_MS } from './database-url.js';
import { defineSettings } from './define-settings.js';
import { contact, keyPrefix, line, realm } from './identity.js';
import { SPECIFIED_PLANS, planTable } from './plan-table.js';
import {
  baseUrl,
  databaseUrl,
  filePath,
  host,
  instant,
  networks,
  oneOf,
  origins,
  portOrOff,
  redisUrl,
  share,
  trustedProxies,
  wholeNumber,
} from './setting.js';

/** Every setting of the platform: its type, range, default and description. */
export const PLATFORM_SETTINGS = defineSettings('', {
  nodeEnv: {
    type: oneOf('development', 'test', 'production'),
    default: 'development',
    description:
      'In production, the first start creates no demo data, and keys contain _live_ instead of _test_.',
  },
  apiTitle: {
    type: line(100),
    default: 'Pet Store Service',
    description: 'Name of the API in the OpenAPI documents and on the pages.',
  },
  apiDescription: {
    type: line(1_000),
    default: 'Keeps a catalogue of animals offered in a store.',
    description:
      'Description of the API in one or more sentences, for the OpenAPI document and the page at /.',
  },
  apiVersion: {
    type: line(50),
    default: '1.0.0',
    description: 'Version of the API in the OpenAPI document.',
  },
  apiContact: {
    type: contact,
    default: { name: 'The operators of this service' },
    description: 'Contact in the OpenAPI documents.',
  },
  apiRealm: {
    type: realm,
    default: 'petstore',
    description: 'Realm in WWW-Authenticate, and name in the User-Agent of webhooks.',
  },
  apiKeyPrefix: {
    type: keyPrefix,
    default: 'pst',
    description: 'Prefix of new keys. Existing keys remain valid.',
  },
  host: { type: host, default: '127.0.0.1', description: 'Address to listen on, or 0.0.0.0 for all.' },
  port: {
    type: wholeNumber(0, 65_535),
    default: 3000,
    description: 'Port of the API. 0 selects a free port.',
  },
  managementPort: {
    type: portOrOff,
    default: 3001,
    description: 'Port of /metrics.',
  },
  managementHost: {
    type: host,
    default: null,
    description: 'Address that MANAGEMENT_PORT listens on. Unset: HOST.',
  },
  maintenance: {
    type: oneOf('on', 'off'),
    default: 'off',
    description:
      'If on, the process opens no database and returns 503 for every request except /health/live, so that the ' +
      'database can be restored, copied or moved.',
  },
  databaseUrl: {
    type: databaseUrl,
    default: 'sqlite:data/petstore.sqlite',
    description:
      'The database: an SQLite file, which is created on first use together with its folder; memory, whose data is lost when the ' +
      'process exits; or PostgreSQL, which several instances can share. Under a test runner, the default is memory.',
    secret: true,
  },
  databaseCa: {
    type: filePath,
    default: null,
    description:
      'File with the CA certificates (PEM) for sslmode=verify-ca and verify-full. Unset: the CA certificates of Node.js.',
  },
  databasePool: {
    type: wholeNumber(2, 1_000),
    default: DEFAULT_POOL,
    description:
      'Maximum number of connections of this process to PostgreSQL. A migration needs two connections.',
  },
  databaseStatementTimeoutMs: {
    type: wholeNumber(100, 600_000),
    default: DEFAULT_STATEMENT_TIMEOUT_MS,
    description:
      'Maximum time that a statement may take on PostgreSQL, in milliseconds. After that, the request returns 503.',
  },
  databaseMigrate: {
    type: oneOf('auto', 'check', 'off'),
    default: null,
    description:
      'Pending migrations at startup: auto runs them, check refuses to start, and off ignores them. Unset: ' +
      'check for PostgreSQL in production, otherwise auto.',
  },
  redisUrl: {
    type: redisUrl,
    default: null,
    description:
      'URL of Redis, which stores the quota counters of all instances. Unset: each process counts on its own.',
    secret: true,
  },
  redisCa: {
    type: filePath,
    default: null,
    description:
      'File with the CA certificates (PEM) for rediss://, including Sentinels and Cluster nodes. Unset: the CA certificates of Node.js.',
  },
  redisTimeoutMs: {
    type: wholeNumber(1, 60_000),
    default: 500,
    description:
      'Maximum time that a request waits for Redis, in milliseconds. After that, the instance counts on its own until Redis responds again.',
  },
  logLevel: {
    type: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    description: 'Lowest level that is logged.',
  },
  accessLog: {
    type: share,
    default: 1,
    description:
      'Which requests are logged, if LOG_LEVEL allows: on logs all requests, off logs no requests, and a share such as 0.01 logs 1 % of them ' +
      'in addition to all responses with status 500 and above.',
  },
  logAddresses: {
    type: oneOf('on', 'off'),
    default: 'on',
    description:
      'Whether the log contains the client address of refused requests without a valid key. Addresses are personal data.',
  },
  trustProxy: {
    type: trustedProxies,
    default: null,
    description:
      'The proxies in front of the service. X-Forwarded-For is ignored unless this is set. At most 32 proxies are trusted.',
  },
  corsOrigins: {
    type: origins,
    default: [],
    description: 'Origins whose pages may call the API from a browser.',
  },
  publicBaseUrl: {
    type: baseUrl,
    default: '/v1',
    description:
      'URL of the production environment in the OpenAPI document. Set it in production for clients and generators.',
  },
  stagingBaseUrl: {
    type: baseUrl,
    default: null,
    description: 'URL of the staging environment, to add it to the OpenAPI documents.',
  },
  console: {
    type: oneOf('on', 'off'),
    default: 'on',
    description: 'Whether the page for operators is served at /console. If off, it returns 404.',
  },
  adminOn: {
    type: oneOf('public', 'management', 'off'),
    default: 'public',
    description:
      'Port that serves /admin and /console: public for PORT, management for MANAGEMENT_PORT, off for neither. On other ports, they return 404.',
  },
  bodyLimitBytes: {
    type: wholeNumber(1_024, 16_777_216),
    default: 102_400,
    description: 'Maximum size of a request body in bytes, after decoding.',
  },
  keepAliveTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 72_000,
    description:
      'How long a connection stays open between two requests, in milliseconds. Set it higher than the keep-alive timeout of ' +
      'the load balancer (often 60 s); otherwise, the load balancer sends requests on connections that have just been closed.',
  },
  headersTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 15_000,
    description:
      'Maximum time for the head of a request to arrive, in milliseconds. After that, the request returns 408.',
  },
  requestTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 60_000,
    description:
      'Maximum time for a whole request to arrive, in milliseconds. After that, the request returns 408.',
  },
  responseTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 60_000,
    description:
      'Maximum time for a client to read a response, in milliseconds. After that, the connection is closed. A stream may take ' +
      'longer if the client keeps reading it.',
  },
  maxRequestsInFlight: {
    type: wholeNumber(0, 1_000_000),
    default: 4_000,
    description:
      'Maximum number of concurrent requests of a process. Further requests are refused with 503, after at most about a second. Up to 500 requests, or this number if it is smaller, are always accepted. Above 500, the limit is the number of responses that the process currently sends in 0.75 s, up to this maximum. Requests of slow clients and streams do not count. 0: no limit.',
  },
  maxEventLoopLagMs: {
    type: wholeNumber(0, 60_000),
    default: 500,
    description:
      'Maximum time that requests may wait for the event loop of a process, in milliseconds, before some requests are refused with 503. A single pause does not count. 0: no limit.',
  },
  responseCacheMib: {
    type: wholeNumber(1, 4_096),
    default: null,
    description:
      'Memory for cached responses to GET requests, in MiB. The least recently used responses are evicted. Unset: 1/16 of the memory available to the process, between 16 and 64.',
  },
  plans: {
    type: planTable,
    default: SPECIFIED_PLANS,
    description:
      'Limits of plans. Changes the limits of free, pro and business, and adds plans such as team=500/50000. If a plan is removed, ' +
      'its clients get the limits of free. Use the same plans for all instances.',
  },
  accountMaxKeys: {
    type: wholeNumber(0, 10_000),
    default: 100,
    description:
      'Maximum number of working keys of a client, and of new keys in 24 hours, for keys issued by self-service (/account/keys). 0: only operators issue keys.',
  },
  auditRetentionDays: {
    type: wholeNumber(0, 36_500),
    default: 0,
    description: 'Number of days after which entries of the audit trail are deleted. 0: never.',
  },
  usageRetentionDays: {
    type: wholeNumber(1, 3_650),
    default: 90,
    description:
      'Number of days after which counts of requests, and of calls to deprecated operations, are deleted.',
  },
  idempotencyRetentionDays: {
    type: wholeNumber(1, 30),
    default: 1,
    description:
      'Number of days for which the response to an Idempotency-Key is stored for retries. The docs for clients promise one day.',
  },
  webhookAllowedNetworks: {
    type: networks,
    default: [],
    description:
      'Private networks that webhooks may be sent to, over https:// or http://. Unset: only public addresses, over https://.',
  },
  webhookRetentionDays: {
    // The message about a key that expires within 7 days also records that its owner was notified.
    type: wholeNumber(7, 365),
    default: 30,
    description:
      'Number of days after which webhook messages, delivered or not, and their delivery logs are deleted.',
  },
  sunsetNotBefore: {
    type: instant,
    default: 0,
    description:
      'Keeps deprecated operations available at least until this instant. Later removal dates do not change.',
  },
  shutdownDelayMs: {
    type: wholeNumber(0, 600_000),
    default: 0,
    description:
      'How long a shutdown continues to accept new connections while /health/ready returns 503, in milliseconds, so that a load balancer can remove the instance.',
  },
  shutdownTimeoutMs: {
    type: wholeNumber(0, 600_000),
    default: 10_000,
    description: 'Maximum time that a shutdown waits for requests in flight, in milliseconds.',
  },
});
