import { ENCODED, readServerUrl } from './server-url.js';

/** One address of a server. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Who connects, and how. */
interface RedisAccess {
  /** User and password of Redis; undefined where it asks for none. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
}

/** One Redis server. */
export interface RedisServerAddress extends RedisAccess {
  readonly kind: 'server';
  readonly node: HostAndPort;
  readonly database: number;
}

/** What a Sentinel group and a Cluster have in common. */
interface RedisNodes extends RedisAccess {
  /** At least one; those that it does not name are found through them. */
  readonly nodes: readonly HostAndPort[];
}

/** The master of a Sentinel group. */
export interface RedisSentinelAddress extends RedisNodes {
  readonly kind: 'sentinel';
  /** Name of the group, as in `sentinel monitor <name>`. */
  readonly name: string;
  readonly database: number;
  /** User and password of the Sentinels themselves; undefined where they ask for none. */
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
}

/** A Redis Cluster. */
export interface RedisClusterAddress extends RedisNodes {
  readonly kind: 'cluster';
}

/** Where Redis is. */
export type RedisAddress = RedisServerAddress | RedisSentinelAddress | RedisClusterAddress;

/** What REDIS_URL may be, in words that complete "must be …". */
export const REDIS_URL_ALLOWED =
  'redis://user:password@host:port/database for one server, redis+sentinel://user:password@host:26379,host2:26379/name ' +
  'for a Sentinel group, or redis+cluster://user:password@host:6379,host2:6379 for a Cluster; rediss… for TLS; ' +
  ENCODED;

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
/** A list of hosts, behind the last @, and what stands before and behind it. */
const FORM = /^(redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** Reads a REDIS_URL; undefined when it is none. The forms of groups are those of the Python library `limits`. */
export function readRedisUrl(text: string): RedisAddress | undefined {
  const [, before = '', tls, kind, hosts = '', behind = ''] = FORM.exec(text) ?? [];
  const [port, parameters] =
    kind === 'sentinel' ? [SENTINEL_PORT, ['sentinelUsername', 'sentinelPassword']] : [REDIS_PORT, []];
  const urls = hosts.split(',').map((host) => readServerUrl(before + host + behind, port, parameters));
  const nodes = urls.flatMap((one) => (one ? [{ host: one.host, port: one.port }] : []));
  const [[url], [node]] = [urls, nodes];
  if (!url || !node || nodes.length < urls.length) return undefined;
  const { user, password } = url;
  const isAnonymous = user === '' && password === '';
  const access = {
    username: user || undefined,
    password: isAnonymous ? undefined : password,
    tls: tls === 's',
  };
  const [name = '', number = '', ...more] = kind === 'sentinel' ? url.path : ['', ...url.path];
  if (!/^\d{0,5}$/.test(number) || more.length > 0) return undefined;
  const database = Number(number);
  if (kind === 'cluster') return number === '' ? { kind, ...access, nodes } : undefined;
  if (kind !== 'sentinel')
    return nodes.length === 1 ? { kind: 'server', ...access, node, database } : undefined;
  if (name === '') return undefined;
  const [sentinelUsername, sentinelPassword] = parameters.map((one) => url.parameters.get(one) ?? undefined);
  return { kind, ...access, nodes, name, database, sentinelUsername, sentinelPassword };
}
