import {
  ENCODE,
  type HostAndPort,
  UrlFault,
  decoded,
  faultOf,
  orUndefined,
  partsOf,
  readCredentials,
  readHost,
  readParameters,
  refuseControls,
} from './url-parts.js';

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
  'for a Sentinel group, or redis+cluster://user:password@host:6379,host2:6379 for a Cluster; rediss… for TLS';

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
/** What each form begins with. */
const SCHEME = /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\//;
/** What may follow the question mark for a Sentinel group; anything else would be ignored in silence. */
const PARAMETERS = ['sentinelUsername', 'sentinelPassword'];
const HOST = {
  several: 'one server alone may stand there; several stand in redis+sentinel:// and redis+cluster://',
  elsewhere: 'unless the colon belongs to a password, which ends with @',
};

/** Reads a REDIS_URL; undefined when it is none. The forms of groups are those of the Python library `limits`. */
export function readRedisUrl(text: string): RedisAddress | undefined {
  return orUndefined(() => read(text));
}

/**
 * Which part of a text makes it no REDIS_URL, and what to do about it, in words that show nothing of the text: any part of it may be
 * one of a password. Empty for a REDIS_URL.
 */
export function faultOfRedisUrl(text: string): string {
  return faultOf(() => read(text));
}

function read(text: string): RedisAddress {
  refuseControls(text);
  const scheme = SCHEME.exec(text);
  if (!scheme) throw new UrlFault('it begins as none of these forms does');
  const { tls, kind } = scheme.groups ?? {};
  const { credentials, hosts, path, query = '', fragment } = partsOf(text.slice(scheme[0].length));
  // Only a parameter may have a plain @. Any other is that of a password with a plain slash.
  if (`${path}${fragment}`.includes('@') || (query.includes('@') && !/(?:^|&)sentinel\w+=/.test(query)))
    throw new UrlFault(`the user or the password has a plain /, ? or #; ${ENCODE}`);
  if (fragment !== undefined) throw new UrlFault('it has a #');
  const access = { tls: tls === 's', ...readAccess(credentials, kind !== undefined) };
  if (kind === 'sentinel')
    return { kind, ...access, nodes: readHosts(hosts, SENTINEL_PORT), ...readGroup(path, query) };
  if (kind === 'cluster') {
    const nodes = readHosts(hosts, REDIS_PORT);
    if (path.length > 1 || query !== '') throw new UrlFault('a Cluster has no database and no parameters');
    return { kind, ...access, nodes };
  }
  const node = readHost(hosts, REDIS_PORT, HOST);
  if (!/^\/?\d{0,5}$/.test(path)) throw new UrlFault('the database behind the host is no number');
  if (query !== '')
    throw new UrlFault(
      'a single server takes no parameters; user, password and database have their places before the ?',
    );
  return { kind: 'server', ...access, node, database: Number(path.slice(1)) };
}

function readAccess(text: string | undefined, isGroup: boolean): Pick<RedisAccess, 'username' | 'password'> {
  if (text === undefined || text === '') return { username: undefined, password: undefined };
  const { user, password } = readCredentials(text);
  if (!isGroup) return { username: user || undefined, password: password ?? '' };
  if (password === undefined)
    throw new UrlFault(
      'the user has no password; a password alone stands behind a colon, as in :password@host',
    );
  if (/:.*:|@/s.test(text)) throw new UrlFault(`the user or the password has a plain : or @; ${ENCODE}`);
  return { username: user || undefined, password: password || undefined };
}

function readHosts(text: string, defaultPort: number): HostAndPort[] {
  const hosts = text.split(',');
  return hosts.map((host, index) => {
    try {
      return readHost(host, defaultPort, HOST);
    } catch (error) {
      if (hosts.length === 1 || !(error instanceof UrlFault)) throw error;
      throw new UrlFault(`of host ${index + 1} in the list, ${error.message}`, { cause: error });
    }
  });
}

/** What names the master of a Sentinel group. */
type Group = Pick<RedisSentinelAddress, 'name' | 'database' | 'sentinelUsername' | 'sentinelPassword'>;

function readGroup(path: string, query: string): Group {
  const [, name, database = '0'] = /^\/([^/]+)(?:\/(\d{1,5}))?$/.exec(path) ?? [];
  if (name === undefined)
    throw new UrlFault(
      'behind the hosts stand /name of the group and, if it is not 0, /number of the database',
    );
  const parameters = readParameters(query, PARAMETERS);
  return {
    name: decoded('the /name of the group', name),
    database: Number(database),
    sentinelUsername: parameters.get('sentinelUsername'),
    sentinelPassword: parameters.get('sentinelPassword'),
  };
}
