import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exampleEnvironment } from './define-settings.js';
import { Settings } from './settings.js';
import { readDatabaseUrl, redactedDatabaseUrl } from './database-url.js';

const POSTGRES = {
  kind: 'postgres',
  host: 'db',
  port: 5432,
  user: 'postgres',
  password: undefined,
  database: 'pets',
  sslMode: 'disable',
};

describe('a DATABASE_URL', () => {
  it.each([
    ['sqlite:data/a.sqlite', { kind: 'sqlite', file: 'data/a.sqlite' }],
    ['sqlite::memory:', { kind: 'sqlite', file: ':memory:' }],
    ['postgres://db/pets', POSTGRES],
    ['postgresql://db:5433/pets', { ...POSTGRES, port: 5433 }],
    ['postgres://shop@db/pets', { ...POSTGRES, user: 'shop' }],
    ['postgres://shop:a%3Ab%40c%2Fd@db/pets', { ...POSTGRES, user: 'shop', password: 'a:b@c/d' }],
    ['postgres://[::1]:5432/pets', { ...POSTGRES, host: '::1' }],
    ['postgres:///pets', { ...POSTGRES, host: 'localhost' }],
    ['postgres://shop@/pets?host=/run/postgresql', { ...POSTGRES, user: 'shop', host: '/run/postgresql' }],
    [
      'postgres://shop@:5433/pets?host=/run/postgresql',
      { ...POSTGRES, user: 'shop', port: 5433, host: '/run/postgresql' },
    ],
    ['postgres://db/pets?sslmode=verify-full', { ...POSTGRES, sslMode: 'verify-full' }],
    ['postgres://db/p%20ets', { ...POSTGRES, database: 'p ets' }],
    ['postgres://db/a%2Fb', { ...POSTGRES, database: 'a/b' }],
    ['postgres://shop:a+b%0Ac@db/pets', { ...POSTGRES, user: 'shop', password: 'a+b\nc' }],
    ['postgres://shop:a:b@c@db:/pets', { ...POSTGRES, user: 'shop', password: 'a:b@c' }],
    ['postgres://é.example/pets', { ...POSTGRES, host: 'xn--9ca.example' }],
    ['postgres://a_b-1.example/pets', { ...POSTGRES, host: 'a_b-1.example' }],
    ['postgres:///pets?host=/run/a+b%20c', { ...POSTGRES, host: '/run/a+b c' }],
    ['postgres:///pets?sslmode=disable&host=::1', { ...POSTGRES, host: '::1' }],
    ['postgres:///pets?host=/run/a@b', { ...POSTGRES, host: '/run/a@b' }],
    ['postgres://db/pets?', POSTGRES],
  ])('%s is read', (text, address) => {
    expect(readDatabaseUrl(text)).toEqual(address);
  });

  it.each([
    ['no scheme', 'data/petstore.sqlite'],
    ['another scheme', 'mysql://db/pets'],
    ['no file', 'sqlite:'],
    ['parameters of SQLite', 'sqlite:a?mode=ro'],
    ['no database', 'postgres://db'],
    ['two databases', 'postgres://db/a/b'],
    ['a broken escape in the database', 'postgres://db/%zz'],
    ['a fragment', 'postgres://db/pets#secret'],
    ['another sslmode', 'postgres://db/pets?sslmode=prefer'],
    ['an sslmode twice', 'postgres://db/pets?sslmode=require&sslmode=disable'],
    ['an unknown parameter', 'postgres://db/pets?pool=3'],
    ['a port that is none', 'postgres://db:secret/pets'],
    ['a port out of range', 'postgres://db:65536/pets'],
    ['a host that is none', 'postgres://d b/pets'],
    ['a broken escape in the password', 'postgres://shop:secret%zz@db/pets'],
    ['a password with a plain slash', 'postgres://shop:se/cret@db/pets'],
    ['a password with a plain question mark', 'postgres://shop:secret?x@db/pets'],
    ['a password with a plain hash', 'postgres://shop:secret#x@db/pets'],
    ['a password with a line break', 'postgres://shop:secret\n@db/pets'],
    ['a file with a line break', 'sqlite:a\nb'],
    ['a NUL in the password', 'postgres://shop:secret%00@db/pets'],
    ['several hosts', 'postgres://a,b:5433/pets'],
    ['the folder of a socket as the host', 'postgres://%2Frun%2Fpostgresql/pets'],
    ['an address in brackets that is none', 'postgres://[::x]/pets'],
    ['an empty folder of a socket', 'postgres:///pets?host='],
    ['a host behind ?host= that is none', 'postgres:///pets?host=a,b'],
    ['a broken escape in a parameter', 'postgres://db/pets?host=/run/%zz'],
  ])('with %s is refused', (_, text) => {
    expect(readDatabaseUrl(text)).toBeUndefined();
  });

  it.each([
    ['sqlite:data/a#b.sqlite', 'must not contain #.'],
    ['sqlite:data/a?mode=ro', 'must not contain ?.'],
    ['sqlite:/srv/#1/what?.sqlite', 'must not contain #.'],
    ['sqlite:a\tb', 'must not contain the control character U+0009.'],
    ['sqlite:data/', 'must not end with /.'],
    ['sqlite:/', 'must not end with /.'],
  ])('of SQLite, %j, names the character that its path must not have', (text, error) => {
    const settings = () => new Settings({ ...exampleEnvironment(), DATABASE_URL: text });
    expect(settings).toThrow(/^DATABASE_URL: the value is not allowed; it must be .*\. The path of .*\.$/);
    expect(settings).toThrow(error);
  });

  it.each([
    ['postgres://shop:secret@db/pets', 'postgres://shop@db/pets'],
    ['postgres://shop:se@cr:et@db/pets?sslmode=require', 'postgres://shop@db/pets?sslmode=require'],
    ['postgres://shop:se/cr@et@db/pets', 'postgres://shop@db/pets'],
    ['postgres://:secret@db/pets', 'postgres://@db/pets'],
    ['postgres://db:5432/pets', 'postgres://db:5432/pets'],
    ['postgres://shop:secret\n@db/pets', 'postgres://shop@db/pets'],
    ['postgres://shop:\r\nsecret\u2028@db/pets', 'postgres://shop@db/pets'],
    ['sqlite:data/a.sqlite', 'sqlite:data/a.sqlite'],
  ])('%j is shown as %s', (text, shown) => {
    expect(redactedDatabaseUrl(text)).toBe(shown);
  });

  it('never shows a password, whatever characters it contains', () => {
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'\n\r\t\0 \u2028@:/?#%&=+,[]\\é'.split('')) }),
    );
    fc.assert(
      fc.property(any, any, fc.boolean(), (before, behind, isEncoded) => {
        const plain = `${before}SECRET${behind}`.toWellFormed();
        const password = isEncoded ? encodeURIComponent(plain) : plain;
        const url = `postgres://shop:${password}@db/pets?sslmode=disable`;
        expect(redactedDatabaseUrl(url)).toBe('postgres://shop@db/pets?sslmode=disable');
        if (isEncoded && !plain.includes('\0'))
          expect(readDatabaseUrl(url)).toMatchObject({ password: plain });
      }),
    );
  });
});
