import { DEFAULT_POOL, DEFAULT_STATEMENT_TIMEOUT_MS } from './database-url.js';
import { defineSettings } from './define-settings.js';
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
  trustedProxies,
  wholeNumber,
} from './setting.js';

/** Every setting of the platform: its type, range, default and description. */
export const PLATFORM_SETTINGS = defineSettings('', {
  nodeEnv: {
    type: oneOf('development', 'test', 'production'),
    default: 'development',
    description: 'In production the first start creates no demo data, and keys begin with pst_live_.',
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
    description: 'Port of /metrics, on the same address.',
  },
  databaseUrl: {
    type: databaseUrl,
    default: 'sqlite:data/petstore.sqlite',
    description:
      'The database: an SQLite file, which is created on first use with its folder, memory, which forgets everything at the ' +
      'end, or PostgreSQL, which several instances may share.',
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
    description:
      'Most connections of this process to PostgreSQL. A migration, and a handler beside which the service writes, need two.',
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
      'What a start does about migrations: auto runs them; check refuses to start while any is missing; off starts as it is. Unset: ' +
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
    default: 50,
    description:
      'Timeout of Redis in milliseconds. When three responses in a row take longer, the instance decides requests without Redis.',
  },
  logLevel: {
    type: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    description: 'Lowest level that is logged.',
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
      'Address of the production environment in the OpenAPI document. While it is a path, documents that are served outside ' +
      'production name the address of their request in full; set it in production, so that clients and generators know it.',
  },
  stagingBaseUrl: {
    type: baseUrl,
    default: 'https://staging.petstore.example/v1',
    description:
      'Address of the staging environment in the OpenAPI document, which tells that the default is a placeholder.',
  },
  console: {
    type: oneOf('on', 'off'),
    default: 'on',
    description: 'Whether the page for operators is served at /console; off answers 404 there.',
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
      'may take longer, as long as the client goes on reading it.',
  },
  maxRequestsInFlight: {
    type: wholeNumber(0, 1_000_000),
    default: 4_000,
    description:
      'Most requests that one process works on at the same time; beyond that, 503 at once. Of more than 500 only as many are ' +
      'let in as were answered in the last half second. Slow clients and streams do not count. 0: no bound.',
  },
  maxEventLoopLagMs: {
    type: wholeNumber(0, 60_000),
    default: 500,
    description:
      'Longest time that requests may wait for the event loop of a process, in milliseconds, before some are answered 503 at ' +
      'once. One pause alone does not count. 0: no bound.',
  },
  accountMaxKeys: {
    type: wholeNumber(0, 10_000),
    default: 100,
    description:
      'Most keys of one client that work when self-service (/account/keys) issues another, and most that it makes in 24 hours. 0: ' +
      'only operators make keys.',
  },
  auditRetentionDays: {
    type: wholeNumber(0, 36_500),
    default: 0,
    description:
      'After how many days the entries of the audit trail are deleted. 0: never. Self-service counts the changes of the last 24 ' +
      'hours by them.',
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
      'How many days an answer is kept for its Idempotency-Key, and given to who repeats the request. Clients are told of one day.',
  },
  webhookAllowedNetworks: {
    type: networks,
    default: [],
    description:
      'Networks that are not public and that webhooks may be sent to all the same, also by http://. Unset: public addresses alone, by ' +
      'https://.',
  },
  webhookRetentionDays: {
    // Of a key that ends within 7 days it is known by the message that this was told.
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
      'How long a stop still takes new connections while /health/ready answers 503, in milliseconds: the time in which a load balancer that asks it takes the instance out.',
  },
  shutdownTimeoutMs: {
    type: wholeNumber(0, 600_000),
    default: 10_000,
    description: 'Longest time that a stop waits for requests in flight, in milliseconds.',
  },
});
