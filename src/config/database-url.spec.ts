import { describe, expect, it } from 'vitest';
import { readDatabaseUrl, shownDatabaseUrl } from './database-url.js';

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
  ])('%s is read', (text, address) => {
    expect(readDatabaseUrl(text)).toEqual(address);
  });

  it.each([
    'postgres://db',
    'postgres://db/',
    'postgres://db/a/b',
    'postgres://db/pets#x',
    'postgres://db/pets?sslmode=prefer',
    'postgres://db/pets?sslmode=require&sslmode=disable',
    'postgres://db/pets?pool=3',
    'postgres://db:x/pets',
    'postgres://shop:%zz@db/pets',
    'mysql://db/pets',
    'sqlite:',
    'sqlite:a?mode=ro',
    '',
  ])('%s is none', (text) => {
    expect(readDatabaseUrl(text)).toBeUndefined();
  });

  it.each([
    ['postgres://shop:secret@db/pets', 'postgres://shop@db/pets'],
    ['postgres://shop:se@cr:et@db/pets?sslmode=require', 'postgres://shop@db/pets?sslmode=require'],
    ['postgres://shop:se/cr@et@db/pets', 'postgres://shop@db/pets'],
    ['postgres://:secret@db/pets', 'postgres://@db/pets'],
    ['postgres://db:5432/pets', 'postgres://db:5432/pets'],
    ['sqlite:data/a.sqlite', 'sqlite:data/a.sqlite'],
  ])('%s is shown as %s', (text, shown) => {
    expect(shownDatabaseUrl(text)).toBe(shown);
  });
});
