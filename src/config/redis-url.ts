/** One address of a server. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** One Redis server, as its URL says. */
export interface RedisServerAddress {
  readonly kind: 'server';
  readonly url: string;
}

/** What a Sentinel group and a Cluster have in common. */
interface RedisNodes {
  /** At least one; those that it does not name are found through them. */
  readonly nodes: readonly HostAndPort[];
  /** User and password of Redis; undefined where it asks for none. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
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
  'for a Sentinel group, or redis+cluster://user:password@host:6379,host2:6379 for a Cluster; rediss… for TLS';

const DEFAULT_PORTS = { sentinel: 26_379, cluster: 6379 } as const;
const OF_SEVERAL =
  /^redis(?<tls>s?)\+(?<kind>sentinel|cluster):\/\/(?:(?<credentials>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/;
/** What may follow the question mark; anything else would be ignored in silence. */
const PARAMETERS = new Set(['sentinelUsername', 'sentinelPassword']);

/** Reads a REDIS_URL; undefined when it is none. The forms of groups are those of the Python library `limits`. */
export function readRedisUrl(text: string): RedisAddress | undefined {
  if (/^rediss?:\/\/./.test(text)) return isServer(text) ? { kind: 'server', url: text } : undefined;
  const {
    tls,
    kind,
    credentials = '',
    hosts = '',
    path = '',
    query = '',
  } = OF_SEVERAL.exec(text)?.groups ?? {};
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined;
  const nodes = hosts.split(',').map((host) => hostAndPort(host, DEFAULT_PORTS[kind]));
  const [username, ...rest] = credentials.split(':').map(decoded);
  const [password] = rest;
  if (!nodes.every((node) => node !== undefined) || rest.length > 1) return undefined;
  if (credentials !== '' && (username === undefined || password === undefined)) return undefined;
  const common = {
    nodes,
    username: username || undefined,
    password: password || undefined,
    tls: tls === 's',
  };
  if (kind === 'cluster') return path.length <= 1 && query === '' ? { kind, ...common } : undefined;
  return sentinelAddress(common, path, query);
}

/** The client reads user and password from the URL by itself, and throws where a percent sign begins nothing. */
function isServer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return [username, password].every((part) => decoded(part) !== undefined);
}

function sentinelAddress(common: RedisNodes, path: string, query: string): RedisSentinelAddress | undefined {
  const { name = '', database = '0' } =
    /^\/(?<name>[^/]+)(?:\/(?<database>\d{1,5}))?$/.exec(path)?.groups ?? {};
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  const group = decoded(name);
  if (!group || names.some((one) => !PARAMETERS.has(one)) || new Set(names).size < names.length)
    return undefined;
  return {
    kind: 'sentinel',
    ...common,
    name: group,
    database: Number(database),
    sentinelUsername: parameters.get('sentinelUsername') ?? undefined,
    sentinelPassword: parameters.get('sentinelPassword') ?? undefined,
  };
}

function hostAndPort(text: string, defaultPort: number): HostAndPort | undefined {
  const [, host, port] = /^(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port === undefined ? defaultPort : Number(port) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
