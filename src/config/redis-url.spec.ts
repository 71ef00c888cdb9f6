import { describe, expect, it } from 'vitest';
import { readRedisUrl } from './redis-url.js';

const access = { username: undefined, password: undefined, tls: false };
const sentinel = {
  kind: 'sentinel',
  ...access,
  database: 0,
  sentinelUsername: undefined,
  sentinelPassword: undefined,
};
const cluster = { kind: 'cluster', ...access };
const at = (host: string, port: number) => ({ host, port });

describe('REDIS_URL', () => {
  it.each([
    ['redis://cache', { kind: 'server', url: 'redis://cache' }],
    ['rediss://user:p%40ss@cache:6380/2', { kind: 'server', url: 'rediss://user:p%40ss@cache:6380/2' }],
    ['redis+sentinel://a/shop', { ...sentinel, nodes: [at('a', 26_379)], name: 'shop' }],
    [
      'redis+sentinel://user:p%40%3Ass@a:1,b,[::1]:3/my%20shop/7',
      {
        ...sentinel,
        nodes: [at('a', 1), at('b', 26_379), at('::1', 3)],
        name: 'my shop',
        database: 7,
        username: 'user',
        password: 'p@:ss',
      },
    ],
    [
      'rediss+sentinel://:word@a/shop?sentinelUsername=guard&sentinelPassword=o%26ther',
      {
        ...sentinel,
        nodes: [at('a', 26_379)],
        name: 'shop',
        password: 'word',
        tls: true,
        sentinelUsername: 'guard',
        sentinelPassword: 'o&ther',
      },
    ],
    ['redis+cluster://a:7000,b:7001', { ...cluster, nodes: [at('a', 7000), at('b', 7001)] }],
    ['redis+cluster://10.0.0.1/', { ...cluster, nodes: [at('10.0.0.1', 6379)] }],
    [
      'rediss+cluster://user:word@a-1.example_x,b',
      {
        ...cluster,
        nodes: [at('a-1.example_x', 6379), at('b', 6379)],
        username: 'user',
        password: 'word',
        tls: true,
      },
    ],
  ])('%s is read', (text, address) => {
    expect(readRedisUrl(text)).toEqual(address);
  });

  it.each([
    ['no scheme', 'cache:6379'],
    ['another scheme', 'http://cache'],
    ['an unknown kind', 'redis+group://a'],
    ['no host', 'redis://'],
    ['no host of a cluster', 'redis+cluster://'],
    ['an empty host', 'redis+cluster://a,,b'],
    ['a port out of range', 'redis+cluster://a:65536'],
    ['a port that is none', 'redis+cluster://a:x'],
    ['a space', 'redis+cluster://a b'],
    ['a database of a cluster', 'redis+cluster://a/1'],
    ['a parameter of a cluster', 'redis+cluster://a?x=1'],
    ['a fragment', 'redis+cluster://a#x'],
    ['no name of the group', 'redis+sentinel://a'],
    ['an empty name of the group', 'redis+sentinel://a/'],
    ['a database that is none', 'redis+sentinel://a/shop/x'],
    ['more than a database', 'redis+sentinel://a/shop/1/2'],
    ['an unknown parameter', 'redis+sentinel://a/shop?sentinelpassword=x'],
    ['a parameter twice', 'redis+sentinel://a/shop?sentinelPassword=x&sentinelPassword=y'],
    ['a password with a plain at sign', 'redis+sentinel://:p@ss@a/shop'],
    ['a password with a plain colon', 'redis+sentinel://user:p:ss@a/shop'],
    ['a user without a password', 'redis+cluster://user@a'],
    ['a broken escape', 'redis+cluster://:%zz@a'],
    ['a broken escape for one server', 'redis://user:secret%zz@a'],
    ['a broken escape in the name', 'redis+sentinel://a/%zz'],
  ])('with %s is refused', (_, text) => {
    expect(readRedisUrl(text)).toBe(undefined);
  });
});
