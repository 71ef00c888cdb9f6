import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { readCertificates } from '../../core/config/certificates.js';
import { readRedisUrl, type RedisAddress } from '../../core/config/redis-url.js';

/** The connection to one server or to the master of a Sentinel group, or those to the masters of a Cluster. */
export type RedisClient = Redis | Cluster;

/** Where Redis is, as the settings say. */
export interface RedisLocation {
  /** A REDIS_URL. */
  readonly url: string;
  /** File with the certificates that are trusted with TLS; null for those of Node.js. */
  readonly ca: string | null;
}

/** How long connecting may take, in milliseconds. */
interface ConnectionLimit {
  readonly connectTimeout: number;
}

/** How a connection is made: RedisLink decides when to connect again, and a command fails at once while it cannot be sent. */
const CONNECTION: RedisOptions = {
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: () => null,
  disableClientInfo: true,
  // A Redis that hangs does not close its side; do not wait for it before the next connection.
  disconnectTimeout: 1,
};

/** How often a command of a Cluster may be sent to another node: its slot was moved, or is being moved. */
const MOST_REDIRECTIONS = 8;
/** Pause before a command is repeated whose slot is being moved, in milliseconds. */
const SLOT_MOVING_MS = 10;

/** The client for a REDIS_URL, not yet connected. Throws for another URL, or when the certificates cannot be read. */
export function redisClient({ url, ca }: RedisLocation, limit: ConnectionLimit): RedisClient {
  const address = readRedisUrl(url);
  if (!address) throw new Error('This is not a Redis URL.');
  const options = { ...CONNECTION, ...limit };
  const tls = address.tls ? (ca === null ? {} : { ca: readCertificates('REDIS_CA', ca) }) : undefined;
  const access = { ...accessOf(address), ...(tls ? { tls } : {}) };
  if (address.kind === 'server')
    return new Redis({ ...options, ...access, ...address.nodes[0], db: address.database });
  if (address.kind === 'cluster')
    return new RedisCluster([...address.nodes], clusterOptions({ ...options, ...access }));
  return new Redis({
    ...options,
    ...access,
    sentinels: [...address.nodes],
    name: address.name,
    db: address.database,
    ...(address.sentinelUsername === undefined ? {} : { sentinelUsername: address.sentinelUsername }),
    ...(address.sentinelPassword === undefined ? {} : { sentinelPassword: address.sentinelPassword }),
    ...(tls ? { sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    sentinelRetryStrategy: () => null,
    sentinelCommandTimeout: limit.connectTimeout,
  });
}

/** Connects again only when all connections of the time before have ended, because Cluster takes those that end late for new ones. */
class RedisCluster extends Cluster {
  private connections = 0;

  constructor(...args: ConstructorParameters<typeof Cluster>) {
    super(...args);
    this.on('+node', () => (this.connections += 1));
    this.on('-node', () => (this.connections -= 1));
  }

  /** Connects to every master, too: otherwise the first command for it would wait for that. */
  override async connect(): Promise<void> {
    if (this.connections > 0) throw new Error('the previous connections are not closed yet');
    await super.connect();
    const waiting = this.nodes('master').filter(({ status }) => status === 'wait');
    await Promise.all(waiting.map((node) => node.connect()));
  }
}

/** Connects. Rejects when the server does not have the database: the client itself would continue in another one. */
export async function connectTo(redis: RedisClient): Promise<void> {
  await redis.connect();
  if (redis instanceof Redis && redis.options.db) await redis.select(redis.options.db);
}

/** Whether a URL names a Cluster, where the keys of one command must be in one slot. */
export function isClusterUrl(url: string): boolean {
  return readRedisUrl(url)?.kind === 'cluster';
}

/** The masters of a Cluster, each of which must answer; none for a single server. */
export function mastersOf(redis: RedisClient): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [];
}

/** Why a client could not connect: a Cluster says only that no node could be asked, and keeps why. */
export function reasonOf(error: Error & { lastNodeError?: Error | null }): Error {
  return error.lastNodeError ?? error;
}

function clusterOptions(options: RedisOptions & ConnectionLimit): ClusterOptions {
  // Cluster has its own: a node is connected by the first command for it, which waits, and never again.
  const { enableOfflineQueue: _queue, retryStrategy: _strategy, ...redisOptions } = options;
  return {
    redisOptions,
    enableOfflineQueue: true,
    lazyConnect: true,
    enableReadyCheck: false,
    clusterRetryStrategy: () => null,
    slotsRefreshTimeout: options.connectTimeout,
    // A node that is gone or a cluster that is down fails the request at once: this instance decides it.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: SLOT_MOVING_MS,
    maxRedirections: MOST_REDIRECTIONS,
    // Certificates are checked against names.
    dnsLookup: (name, done) => done(null, name),
  };
}

function accessOf({ username, password }: RedisAddress): RedisOptions {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}
