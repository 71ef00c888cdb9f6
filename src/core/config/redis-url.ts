import { ENCODED, readServerUrl } from './server-url.js';

/** Address and credentials of Redis. */
export interface RedisAddress {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** One server, or at least one of a group, which leads to the others. */
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly tls: boolean;
  /** User and password of Redis; undefined if there is none. */
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Always 0 in a Cluster. */
  readonly database: number;
  /** Name of a Sentinel group, as in `sentinel monitor <name>`; otherwise empty. */
  readonly name: string;
  /** User and password of the Sentinels themselves; undefined if there is none. */
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
}

/** Allowed forms of REDIS_URL, to complete "must be …". */
export const REDIS_URL_ALLOWED =
  'redis://user:password@host:port/database for one server, redis+sentinel://user:password@host:26379,host2:26379/name ' +
  'for a Sentinel group, or redis+cluster://user:password@host:6379,host2:6379 for a Cluster; rediss… for TLS; ' +
  ENCODED;

/** The default port and the allowed parameters of each kind. */
const KINDS = {
  server: [6_379, []],
  sentinel: [26_379, ['sentinelUsername', 'sentinelPassword']],
  cluster: [6_379, []],
} as const;
/** A list of hosts, after the last @, and the text before and after it. */
const FORM = /^(redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** Parses a REDIS_URL; undefined if it is invalid. The syntax for groups is that of the Python library `limits`. */
export function readRedisUrl(text: string): RedisAddress | undefined {
  const [, before = '', tls, scheme = 'server', hosts = '', behind = ''] = FORM.exec(text) ?? [];
  const kind = scheme as keyof typeof KINDS;
  const [port, known] = KINDS[kind];
  const urls = hosts.split(',').map((host) => readServerUrl(before + host + behind, port, known));
  const nodes = urls.flatMap((one) => (one ? [{ host: one.host, port: one.port }] : []));
  const [url] = urls;
  if (!url || nodes.length < urls.length || (kind === 'server' && nodes.length > 1)) return undefined;
  const [name = '', number = '', ...more] = kind === 'sentinel' ? url.path : ['', ...url.path];
  if (!/^\d{0,5}$/.test(number) || more.length > 0) return undefined;
  if ((kind === 'sentinel' && name === '') || (kind === 'cluster' && number !== '')) return undefined;
  const { user, password, parameters } = url;
  return {
    kind,
    nodes,
    tls: tls === 's',
    username: user || undefined,
    password: user === '' && password === '' ? undefined : password,
    database: Number(number),
    name,
    sentinelUsername: parameters.get('sentinelUsername') ?? undefined,
    sentinelPassword: parameters.get('sentinelPassword') ?? undefined,
  };
}
