import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRedisUrl } from './redis-url.js';

const at = (host: string, port: number) => ({ host, port });
const plain = { tls: false, database: 0, name: '' };
const sentinel = { ...plain, kind: 'sentinel' };
const server = { ...plain, kind: 'server', nodes: [at('cache', 6379)] };
const cluster = { ...plain, kind: 'cluster' };

describe('REDIS_URL', () => {
  it.each([
    ['redis://cache', server],
    [
      'rediss://user:p%40ss@cache:6380/2',
      { ...server, nodes: [at('cache', 6380)], database: 2, username: 'user', password: 'p@ss', tls: true },
    ],
    ['redis://:p:a@ss+%0A@cache:/', { ...server, password: 'p:a@ss+\n' }],
    ['redis://user@cache?', { ...server, username: 'user', password: '' }],
    ['redis://[::1]', { ...server, nodes: [at('::1', 6379)] }],
    ['redis://é.example', { ...server, nodes: [at('xn--9ca.example', 6379)] }],
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
    [
      'redis+sentinel://a/shop?sentinelPassword=a+b%2B%20@c',
      { ...sentinel, nodes: [at('a', 26_379)], name: 'shop', sentinelPassword: 'a+b+ @c' },
    ],
    [
      'redis+cluster://shop:a,b@c:d@a,b',
      { ...cluster, username: 'shop', password: 'a,b@c:d', nodes: [at('a', 6379), at('b', 6379)] },
    ],
    ['redis+cluster://a:,é:7001', { ...cluster, nodes: [at('a', 6379), at('xn--9ca', 7001)] }],
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
    ['an empty host', 'redis+cluster://a,,b'],
    ['a port out of range', 'redis+cluster://a:65536'],
    ['a port that is none', 'redis+cluster://a:x'],
    ['a space', 'redis+cluster://a b'],
    ['a database of a cluster', 'redis+cluster://a/1'],
    ['a parameter of a cluster', 'redis+cluster://a?x=1'],
    ['a fragment', 'redis+cluster://a#x'],
    ['no name of the group', 'redis+sentinel://a'],
    ['a database that is none', 'redis+sentinel://a/shop/x'],
    ['an unknown parameter', 'redis+sentinel://a/shop?sentinelpassword=x'],
    ['a parameter twice', 'redis+sentinel://a/shop?sentinelPassword=x&sentinelPassword=y'],
    ['a broken escape', 'redis+cluster://:%zz@a'],
    ['a broken escape in a parameter', 'redis+sentinel://a/shop?sentinelPassword=%zz'],
    ['a password with a line break', 'redis://:secret\n@cache'],
    ['several hosts of one server', 'redis://a,b:6380'],
    ['an address without brackets', 'redis://::1'],
    ['a host that is none', 'redis+cluster://a,b!'],
    ...['connectTimeout=abc', 'db=9', 'path=', 'keyPrefix=x', 'sentinels=1', 'tls=1', 'family=6'].map(
      (parameter): [string, string] => [`?${parameter} for one server`, `redis://cache/0?${parameter}`],
    ),
    ['a password as a parameter', 'rediss://cache?password=secret'],
    ['a password with a plain slash', 'redis://:12/34secret@cache'],
    ['a password with a plain hash', 'redis+cluster://:a#secret@cache'],
    ['a password without an at sign', 'redis://user:secret'],
    ['a database that is none, on one server', 'redis://cache/secret'],
  ])('with %s is refused', (_, text) => {
    expect(readRedisUrl(text)).toBe(undefined);
  });

  it('accepts any password that is percent-encoded', () => {
    const forms = fc.constantFrom('redis://', 'rediss://', 'redis+cluster://', 'redis+sentinel://');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), forms, (text, form) => {
        const password = text.toWellFormed();
        const url = `${form}shop:${encodeURIComponent(password)}@cache${form.includes('sentinel') ? '/group' : ''}`;
        expect(readRedisUrl(url)).toMatchObject({ username: 'shop', password });
      }),
    );
  });
});
