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
    description: 'In production the first start creates no demo data, and keys contain _live_, not _test_.',
  },
  apiTitle: {
    type: line(100),
    default: 'Pet Store Service',
    description: 'Name of the API in its documents and on its pages.',
  },
  apiDescription: {
    type: line(1_000),
    default: 'Keeps a catalogue of animals offered in a store.',
    description: 'What the API is for, in a sentence or more, in the document and on the page at /.',
  },
  apiVersion: {
    type: line(50),
    default: '1.0.0',
    description: 'Version of the API in the document of /v1.',
  },
  apiContact: {
    type: contact,
    default: { name: 'The operators of this service' },
    description: 'Contact for questions, in the documents.',
  },
  apiRealm: {
    type: realm,
    default: 'petstore',
    description: 'The realm of WWW-Authenticate.',
  },
  apiKeyPrefix: {
    type: keyPrefix,
    default: 'pst',
    description: 'What keys begin with that are issued from now on. Earlier keys stay valid.',
  },
  host: { type: host, default: '127.0.0.1', description: 'Address to listen on; 0.0.0.0 for all.' },
  port: {
    type: wholeNumber(0, 65_535),
    default: 3000,
    description: 'Port of the API; 0 takes any free one.',
  },
  managementPort: {
    type: portOrOff,
    default: 3001,
    description: 'Port of /metrics.',
  },
  managementHost: {
    type: host,
    default: null,
    description: 'Address that MANAGEMENT_PORT listens on. Unset: that of HOST.',
  },
  maintenance: {
    type: oneOf('on', 'off'),
    default: 'off',
    description:
      'While it is on, the process opens no database and responds with 503 to every request except /health/live, so that the ' +
      'database can be restored, copied or moved.',
  },
  databaseUrl: {
    type: databaseUrl,
    default: 'sqlite:data/petstore.sqlite',
    description:
      'The database: an SQLite file, which is created on first use with its folder, memory, which forgets everything at the ' +
      'end, or PostgreSQL, which several instances may share. In memory by default under a test runner.',
    secret: true,
  },
  databaseCa: {
    type: filePath,
    default: null,
    description:
      'File with the certificates (PEM) that sslmode=verify-ca and verify-full trust. Unset: those of Node.js.',
  },
  databasePool: {
    type: wholeNumber(2, 1_000),
    default: DEFAULT_POOL,
    description: 'Maximum number of connections of this process to PostgreSQL. A migration needs two.',
  },
  databaseStatementTimeoutMs: {
    type: wholeNumber(100, 600_000),
    default: DEFAULT_STATEMENT_TIMEOUT_MS,
    description: 'Longest time that one statement may take on PostgreSQL, in milliseconds; then 503.',
  },
  databaseMigrate: {
    type: oneOf('auto', 'check', 'off'),
    default: null,
    description:
      'What a start does about pending migrations: auto runs them; check refuses to start; off ignores them. Unset: ' +
      'check for PostgreSQL in production, auto elsewhere.',
  },
  redisUrl: {
    type: redisUrl,
    default: null,
    description: 'Where instances share their quota counters. Unset: each process counts for itself.',
    secret: true,
  },
  redisCa: {
    type: filePath,
    default: null,
    description:
      'File with the certificates (PEM) that rediss:// trusts, for Sentinels and the nodes of a Cluster, too. Unset: those of Node.js.',
  },
  redisTimeoutMs: {
    type: wholeNumber(1, 60_000),
    default: 500,
    description:
      'Longest time that a request waits for Redis, in milliseconds; then the instance counts by itself until Redis responds again.',
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
      'Which requests are logged, among those of LOG_LEVEL: on logs all, off none, and a share such as 0.01 one in a hundred, ' +
      'besides all responses of 500 and above.',
  },
  logAddresses: {
    type: oneOf('on', 'off'),
    default: 'on',
    description:
      'Whether the line of a refused request without a valid key has the address of its client. Addresses are personal data.',
  },
  trustProxy: {
    type: trustedProxies,
    default: null,
    description:
      'The proxies in front of the service. It uses X-Forwarded-For only if this is set, and trusts at most 32 proxies in a row.',
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
      'Address of the production environment in the OpenAPI document; set it in production, so that clients and generators know it.',
  },
  stagingBaseUrl: {
    type: baseUrl,
    default: null,
    description: 'Address of the staging environment, which the OpenAPI documents then name, too.',
  },
  console: {
    type: oneOf('on', 'off'),
    default: 'on',
    description: 'Whether the page for operators is served at /console; off makes it 404.',
  },
  adminOn: {
    type: oneOf('public', 'management', 'off'),
    default: 'public',
    description:
      'Where /admin and /console are served: on the port of the API, on MANAGEMENT_PORT alone, or nowhere; elsewhere they are 404.',
  },
  bodyLimitBytes: {
    type: wholeNumber(1_024, 16_777_216),
    default: 102_400,
    description: 'Largest request body in bytes, after decoding.',
  },
  keepAliveTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 72_000,
    description:
      'How long a connection stays open between two requests, in milliseconds. Set it higher than the keep-alive timeout of ' +
      'the load balancer (often 60 s); otherwise the load balancer sends requests into connections that have just been closed.',
  },
  headersTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 15_000,
    description: 'Longest time in which the head of a request must arrive, in milliseconds; then 408.',
  },
  requestTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 60_000,
    description: 'Longest time in which a whole request must arrive, in milliseconds; then 408.',
  },
  responseTimeoutMs: {
    type: wholeNumber(1_000, 600_000),
    default: 60_000,
    description:
      'Longest time in which a client must read a response, in milliseconds; then the service cuts its connection. A stream ' +
      'may take longer, as long as the client keeps reading it.',
  },
  maxRequestsInFlight: {
    type: wholeNumber(0, 1_000_000),
    default: 4_000,
    description:
      'Maximum number of requests that one process works on at the same time; further requests get 503 at once. Above 500, the limit is the number of responses in the last half second. Slow clients and streams do not count. 0: no limit.',
  },
  maxEventLoopLagMs: {
    type: wholeNumber(0, 60_000),
    default: 500,
    description:
      'Longest time that requests may wait for the event loop of a process, in milliseconds, before some get 503 at once. A single pause does not count. 0: no limit.',
  },
  responseCacheMib: {
    type: wholeNumber(1, 4_096),
    default: null,
    description:
      'Memory for cached responses of GET operations, in MiB; the least recently used ones are evicted. Unset: a sixteenth of the memory that the process may use, at least 16 and at most 64.',
  },
  plans: {
    type: planTable,
    default: SPECIFIED_PLANS,
    description:
      'Limits of plans. It changes the numbers of free, pro and business, and adds plans, such as team=500/50000. A client of a ' +
      'plan that is removed gets the limits of free. Give all instances the same plans.',
  },
  accountMaxKeys: {
    type: wholeNumber(0, 10_000),
    default: 100,
    description:
      'Maximum number of working keys of one client for self-service (/account/keys) to issue another, and of keys that it issues in 24 hours. 0: only operators issue keys.',
  },
  auditRetentionDays: {
    type: wholeNumber(0, 36_500),
    default: 0,
    description:
      'After how many days the entries of the audit trail are deleted. 0: never. Self-service limits changes by the entries of the last 24 hours.',
  },
  usageRetentionDays: {
    type: wholeNumber(1, 3_650),
    default: 90,
    description:
      'After how many days the counts of requests and of calls of deprecated operations are deleted. Those of today never are.',
  },
  idempotencyRetentionDays: {
    type: wholeNumber(1, 30),
    default: 1,
    description:
      'How many days the response to an Idempotency-Key is stored for retries. The documentation promises clients one day.',
  },
  webhookAllowedNetworks: {
    type: networks,
    default: [],
    description:
      'Private networks that webhooks may be sent to, also by http://. Unset: only public addresses, by https://.',
  },
  webhookRetentionDays: {
    // The message about a key that ends within 7 days shows that its owner was notified.
    type: wholeNumber(7, 365),
    default: 30,
    description:
      'After how many days messages of webhooks and the log of their deliveries are deleted, delivered or not.',
  },
  sunsetNotBefore: {
    type: instant,
    default: 0,
    description:
      'Keeps deprecated operations available until this instant. It can postpone a removal; it cannot bring one forward.',
  },
  shutdownDelayMs: {
    type: wholeNumber(0, 600_000),
    default: 0,
    description:
      'How long a shutdown still accepts new connections while /health/ready is 503, in milliseconds, so that a load balancer can remove the instance.',
  },
  shutdownTimeoutMs: {
    type: wholeNumber(0, 600_000),
    default: 10_000,
    description: 'Longest time that a shutdown waits for requests in flight, in milliseconds.',
  },
});
