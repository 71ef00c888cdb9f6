import sqlite3 from 'sqlite3';
import { expect, it } from 'vitest';
import { Connection } from './connection.js';

it.each([0, 1])(
  'a connection can be closed, even while a cached statement is being prepared or runs (%i before)',
  async (before) => {
    const connection = new Connection(new sqlite3.Database(':memory:'), { max: 64, accepts: () => true });
    const insert = () => connection.all('INSERT INTO pets (name) VALUES (?)', ['a']);
    await connection.all('CREATE TABLE pets (name TEXT NOT NULL)');
    for (let times = 0; times < before; times += 1) await insert();
    const last = insert();
    await expect(connection.close()).resolves.toBeUndefined();
    await expect(last).resolves.toEqual([]);
  },
);
