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

/** Time limits, in milliseconds. */
interface Limits {
  /** How long connecting may take. */
  readonly connectTimeout: number;
  /** How long a command may take; without it a command waits for as long as its connection lasts. */
  readonly commandTimeout?: number;
}

/** Longest pause between two attempts to connect, in milliseconds. */
const RETRY_MS = 1_000;

/** Pauses are random, so that the attempts of instances spread. */
const retryStrategy = (): number => RETRY_MS * (1 - Math.random() / 2);

/** The client connects again by itself; a command fails at once while it cannot be sent, and is never sent twice. */
const CONNECTION: RedisOptions = {
  lazyConnect: true,
  maxRetriesPerRequest: 0,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy,
  disableClientInfo: true,
  // A Redis that hangs does not close its side; do not wait for it before the next connection.
  disconnectTimeout: 1,
};

/** How often a command of a Cluster may be sent to another node: its slot was moved, or is being moved. */
const MAX_REDIRECTIONS = 8;
/** Pause before a command is repeated whose slot is being moved, in milliseconds. */
const SLOT_MOVING_MS = 10;

/** The client for a REDIS_URL, not yet connected. Throws for another URL, or when the certificates cannot be read. */
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

/** Connects; rejects when that fails or takes longer than this. The client tries on until it is disconnected. */
export async function connectWithin(redis: RedisClient, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no connection within ${limitMs} ms`)), limitMs);
  });
  await Promise.race([redis.connect(), late]).finally(() => clearTimeout(timer));
}

/**
 * Makes a connected client ready for commands: chooses the database, without which it would continue in another one, or connects to every
 * master of a Cluster, for which the first command would wait. Rejects when that fails.
 */
export async function prepare(redis: RedisClient): Promise<void> {
  if (redis instanceof Redis) {
    if (redis.options.db) await redis.select(redis.options.db);
  } else {
    const waiting = mastersOf(redis).filter(({ status }) => status === 'wait');
    await Promise.all(waiting.map((node) => node.connect()));
  }
}

/** Sends the commands of one turn of the event loop in one write to each server: a write costs more than a decision. */
export class WriteBatch {
  private isOpen = false;

  constructor(private readonly redis: RedisClient) {}

  /** Holds back what is written from now on until the turn ends. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    const nodes = this.redis instanceof Redis ? [this.redis] : mastersOf(this.redis);
    const streams = nodes.flatMap(({ status, stream }) => (status === 'ready' ? [stream] : []));
    for (const stream of streams) stream.cork();
    setImmediate(() => {
      this.isOpen = false;
      for (const stream of streams) stream.uncork();
    });
  }
}

/** Whether a URL names a Cluster, where the keys of one command must be in one slot. */
export function isClusterUrl(url: string): boolean {
  return readRedisUrl(url)?.kind === 'cluster';
}

/** The masters of a Cluster, each of which must answer; none for a single server. */
export function mastersOf(redis: RedisClient): Redis[] {
  return redis instanceof Cluster ? redis.nodes('master') : [];
}

/** Whether Redis loses all data when it restarts; false where its user may not ask. */
export async function losesData(redis: RedisClient): Promise<boolean> {
  const persistence = await redis.info('persistence').catch(() => '');
  const [, snapshots] = ((await redis.config('GET', 'save').catch(() => [])) as string[]) ?? [];
  return persistence.includes('aof_enabled:0') && snapshots === '';
}

/** Why a client could not connect: a Cluster says only that no node could be asked, and keeps why. */
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
    // A node that is gone or a cluster that is down fails the request at once: this instance decides it.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: SLOT_MOVING_MS,
    maxRedirections: MAX_REDIRECTIONS,
    // Certificates are checked against names.
    dnsLookup: (name, done) => done(null, name),
  };
}

/**
 * While a slot is being moved, ioredis sends ASKING to the node that gets it, and does not handle its failure: the rejection would end the
 * process. The command behind it fails, too, and has a handler. test/processes/redis-hangs.spec.ts would notice a change.
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  node.asking = () => asking().catch(() => 'OK');
}

/** A password without a user is that of the user `default`: so the client prints no warning about a server that asks for none. */
const DEFAULT_USER = 'default';

function accessOf({ username = DEFAULT_USER, password }: RedisAddress): RedisOptions {
  return password === undefined ? {} : { username, password };
}

function sentinelAccessOf({ sentinelUsername = DEFAULT_USER, sentinelPassword }: RedisAddress): RedisOptions {
  return sentinelPassword === undefined ? {} : { sentinelUsername, sentinelPassword };
}
