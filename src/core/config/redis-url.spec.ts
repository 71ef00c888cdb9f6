import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOfRedisUrl, readRedisUrl } from './redis-url.js';

const access = { username: undefined, password: undefined, tls: false };
const sentinel = {
  kind: 'sentinel',
  ...access,
  database: 0,
  sentinelUsername: undefined,
  sentinelPassword: undefined,
};
const server = { kind: 'server', ...access, node: { host: 'cache', port: 6379 }, database: 0 };
const cluster = { kind: 'cluster', ...access };
const at = (host: string, port: number) => ({ host, port });

describe('REDIS_URL', () => {
  it.each([
    ['redis://cache', server],
    [
      'rediss://user:p%40ss@cache:6380/2',
      { ...server, node: at('cache', 6380), database: 2, username: 'user', password: 'p@ss', tls: true },
    ],
    ['redis://:p:a@ss+%0A@cache:/', { ...server, password: 'p:a@ss+\n' }],
    ['redis://user@cache?', { ...server, username: 'user', password: '' }],
    ['redis://[::1]', { ...server, node: at('::1', 6379) }],
    ['redis://é.example', { ...server, node: at('xn--9ca.example', 6379) }],
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
    ['no scheme', 'cache:6379', 'begins as none'],
    ['another scheme', 'http://cache', 'begins as none'],
    ['an unknown kind', 'redis+group://a', 'begins as none'],
    ['no host', 'redis://', 'host is missing'],
    ['no host of a cluster', 'redis+cluster://', 'host is missing'],
    ['an empty host', 'redis+cluster://a,,b', 'of host 2 in the list, the host is missing'],
    ['a port out of range', 'redis+cluster://a:65536', 'port'],
    ['a port that is none', 'redis+cluster://a:x', 'port'],
    ['a space', 'redis+cluster://a b', 'no name and no address'],
    ['a database of a cluster', 'redis+cluster://a/1', 'no database'],
    ['a parameter of a cluster', 'redis+cluster://a?x=1', 'no parameters'],
    ['a fragment', 'redis+cluster://a#x', '#'],
    ['no name of the group', 'redis+sentinel://a', '/name of the group'],
    ['an empty name of the group', 'redis+sentinel://a/', '/name of the group'],
    ['a database that is none', 'redis+sentinel://a/shop/x', '/number of the database'],
    ['more than a database', 'redis+sentinel://a/shop/1/2', '/number of the database'],
    ['an unknown parameter', 'redis+sentinel://a/shop?sentinelpassword=x', 'sentinelUsername'],
    ['a parameter twice', 'redis+sentinel://a/shop?sentinelPassword=x&sentinelPassword=y', 'there twice'],
    ['a password with a plain at sign', 'redis+sentinel://:p@ss@a/shop', 'plain : or @'],
    ['a password with a plain colon', 'redis+sentinel://user:p:ss@a/shop', 'plain : or @'],
    ['a user without a password', 'redis+cluster://user@a', 'has no password'],
    ['a broken escape', 'redis+cluster://:%zz@a', '% that begins no character'],
    ['a broken escape for one server', 'redis://user:secret%zz@a', '% that begins no character'],
    ['a broken escape in the name', 'redis+sentinel://a/%zz', '/name of the group has a %'],
    ['a broken escape in a parameter', 'redis+sentinel://a/shop?sentinelPassword=%zz', 'the ? has a %'],
    ['a password with a line break', 'redis://:secret\n@cache', 'a line break or another control'],
    ['a line break in a group', 'redis+cluster://:secret\r@a', 'a line break or another control'],
    ['a line break in a parameter', 'redis+sentinel://a/shop?sentinelPassword=secret\n', 'a line break'],
    ['several hosts of one server', 'redis://a,b:6380', 'redis+sentinel:// and redis+cluster://'],
    ['an address without brackets', 'redis://::1', 'in brackets'],
    ['a host that is none', 'redis+cluster://a,b!', 'of host 2 in the list, the host is no name'],
    ...['connectTimeout=abc', 'db=9', 'path=', 'keyPrefix=x', 'sentinels=1', 'tls=1', 'family=6'].map(
      (parameter): [string, string, string] => [
        `?${parameter} for one server`,
        `redis://cache/0?${parameter}`,
        'takes no parameters',
      ],
    ),
    ['a password as a parameter', 'rediss://cache?password=secret', 'takes no parameters'],
    ['a password with a plain slash', 'redis://:12/34secret@cache', 'plain /, ? or #'],
    ['a password with a plain slash, of digits', 'redis://:12/34@cache', 'plain /, ? or #'],
    ['a password with a plain hash', 'redis+cluster://:a#secret@cache', 'plain /, ? or #'],
    ['a password without an at sign', 'redis://user:secret', 'unless the colon belongs to a password'],
    [
      'a database that is none, on one server',
      'redis://cache/secret',
      'database behind the host is no number',
    ],
    ['a fragment for one server', 'redis://cache/1#secret', 'it has a #'],
  ])('with %s is refused, and the part is named without its text', (_, text, part) => {
    expect(readRedisUrl(text)).toBe(undefined);
    const fault = faultOfRedisUrl(text);
    expect(fault).toContain(part);
    expect(fault).not.toContain('secret');
  });

  it('says nothing of a password, whatever that holds', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'\n\r\t\0 \u2028@:/?#%&=+,[]\\é'.split('')) }),
    );
    const forms = fc.constantFrom('redis://', 'rediss://', 'redis+cluster://', 'redis+sentinel://');
    fc.assert(
      fc.property(any, any, fc.boolean(), forms, (before, behind, isEncoded, form) => {
        const plain = `${before}SECRET${behind}`.toWellFormed();
        const password = isEncoded ? encodeURIComponent(plain) : plain;
        const url = `${form}shop:${password}@cache${form.includes('sentinel') ? '/group' : ''}`;
        const address = readRedisUrl(url);
        expect(faultOfRedisUrl(url)).not.toContain('SECRET');
        if (isEncoded) expect(address).toMatchObject({ password: plain });
      }),
    );
  });
});
