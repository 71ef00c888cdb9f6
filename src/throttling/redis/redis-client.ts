import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { readCertificates } from '../../core/config/certificates.js';
import { readRedisUrl, type RedisAddress } from '../../core/config/redis-url.js';

/** The connection to a single server or a Sentinel group's master, or the connections to a Cluster's masters. */
export type RedisClient = Redis | Cluster;

/** Where Redis is, according to the settings. */
export interface RedisLocation {
  readonly url: string;
  /** File with CA certificates for TLS; null for those of Node.js. */
  readonly ca: string | null;
}

interface Limits {
  readonly connectTimeout: number;
  /** By default, a command waits as long as its connection lasts. */
  readonly commandTimeout?: number;
}

/** Maximum pause between two attempts to connect, in milliseconds. */
const RETRY_MS = 1_000;

/** Random, so that instances do not reconnect at the same time. */
const retryStrategy = (): number => RETRY_MS * (1 - Math.random() / 2);

/** The client reconnects automatically. A command fails immediately if it cannot be sent, and is never sent twice. */
const CONNECTION: RedisOptions = {
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy,
  disableClientInfo: true,
  // A hanging Redis does not close its side; do not wait for it before reconnecting.
  disconnectTimeout: 1,
};

/** How often a Cluster command may be redirected to another node because its slot was, or is being, moved. */
const MAX_REDIRECTIONS = 8;
/** Pause before repeating a command whose slot is being moved, in milliseconds. */
const SLOT_MOVING_MS = 10;

/** Creates the client for a REDIS_URL, without connecting. Throws for another URL, or if the certificates cannot be read. */
export function redisClient({ url, ca }: RedisLocation, limits: Limits): RedisClient {
  const address = readRedisUrl(url);
  if (!address) throw new Error('This is not a Redis URL.');
  const options = { ...CONNECTION, ...limits };
  const tls = address.tls ? (ca === null ? {} : { ca: readCertificates('REDIS_CA', ca) }) : undefined;
  const access = { ...accessOf(address), ...(tls ? { tls } : {}) };
  if (address.kind === 'server')
    return new Redis({ ...options, ...access, ...address.nodes[0], db: address.database });
  if (address.kind === 'cluster')
    return new Cluster([...address.nodes], clusterOptions({ ...options, ...access })).on(
      '+node',
      handleAsking,
    );
  return new Redis({
    ...options,
    ...access,
    sentinels: [...address.nodes],
    name: address.name,
    db: address.database,
    ...sentinelAccessOf(address),
    ...(tls ? { sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    sentinelRetryStrategy: retryStrategy,
    sentinelCommandTimeout: limits.connectTimeout,
  });
}

/** Connects; rejects if that fails or takes longer than this. The client keeps trying until it is disconnected. */
export async function connectWithin(redis: RedisClient, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no connection within ${limitMs} ms`)), limitMs);
  });
  await Promise.race([redis.connect(), late]).finally(() => clearTimeout(timer));
}

/**
 * Prepares a connected client for commands: selects the database, because the client would otherwise use database 0, or connects to every
 * master of a Cluster, which would delay the first command. Rejects if that fails.
 */
export async function prepare(redis: RedisClient): Promise<void> {
  if (redis instanceof Redis) {
    if (redis.options.db) await redis.select(redis.options.db);
  } else {
    const waiting = mastersOf(redis).filter(({ status }) => status === 'wait');
    await Promise.all(waiting.map((node) => node.connect()));
  }
}

/** Sends all commands of one turn of the event loop in one write to each server, because a write costs more than a decision. */
export class WriteBatch {
  private isOpen = false;

  constructor(private readonly redis: RedisClient) {}

  /** Buffers the writes of requests that are handled together. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    const nodes = this.redis instanceof Redis ? [this.redis] : mastersOf(this.redis);
    const streams = nodes.flatMap(({ status, stream }) => (status === 'ready' ? [stream] : []));
    for (const stream of streams) stream.cork();
    process.nextTick(() => {
      this.isOpen = false;
      for (const stream of streams) stream.uncork();
    });
  }
}

/** Whether a URL is that of a Cluster, where all keys of a command must be in one slot. */
export function isClusterUrl(url: string): boolean {
  return readRedisUrl(url)?.kind === 'cluster';
}

/** The masters of a Cluster, each of which must respond; empty for a single server. */
export function mastersOf(redis: RedisClient): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [];
}

/** Whether Redis loses all data when it restarts; false if its user lacks permission to find out. */
export async function losesData(redis: RedisClient): Promise<boolean> {
  const persistence = await redis.info('persistence').catch(() => '');
  const [, snapshots] = ((await redis.config('GET', 'save').catch(() => [])) as string[]) ?? [];
  return persistence.includes('aof_enabled:0') && snapshots === '';
}

/** Why a client could not connect. A Cluster reports only that no node responded, and stores the reason. */
export function reasonOf(error: Error & { lastNodeError?: Error | null }): Error {
  return error.lastNodeError ?? error;
}

function clusterOptions(options: RedisOptions & Limits): ClusterOptions {
  return {
    redisOptions: options,
    enableOfflineQueue: false,
    lazyConnect: true,
    enableReadyCheck: false,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: options.connectTimeout,
    // If a node is gone or the cluster is down, the request fails immediately, and this instance decides it.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: SLOT_MOVING_MS,
    maxRedirections: MAX_REDIRECTIONS,
    // Certificates are verified against names.
    dnsLookup: (name, done) => done(null, name),
  };
}

/**
 * While a slot is being moved, ioredis sends ASKING to its new node and does not handle the failure, so the unhandled rejection would end
 * the process. The command after it fails as well, and has a handler. test/processes/redis-hangs.spec.ts would detect a change.
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  node.asking = () => asking().catch(() => 'OK');
}

/** With only a password, the user is `default`. Naming it avoids the client's warning about a server that requires no user. */
const DEFAULT_USER = 'default';

function accessOf({ username = DEFAULT_USER, password }: RedisAddress): RedisOptions {
  return password === undefined ? {} : { username, password };
}

function sentinelAccessOf({ sentinelUsername = DEFAULT_USER, sentinelPassword }: RedisAddress): RedisOptions {
  return sentinelPassword === undefined ? {} : { sentinelUsername, sentinelPassword };
}
