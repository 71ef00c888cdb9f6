import { describe, expect, it } from 'vitest';
import { type Column, type View, listTable } from './list-table.js';
import { type Cell, widthOf } from './table.js';

const NOW = Date.parse('2026-05-01T12:00:00.000Z');
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const TITLES = ['ID', 'NAME', 'PLAN', 'MADE', 'END'];
const COLUMNS = TITLES.map((title, at): Column => [title, (row: readonly Cell[]) => row[at] ?? null]);
const ROWS: Cell[][] = [
  [ID, 'Acme', 'free', '2026-05-01T11:57:10.000Z', null],
  [ID, 'Zoo of many words', 'enterprise', '2025-05-01T12:00:00.000Z', '2026-05-06T13:00:00.000Z'],
];
const shown = (columns: number | undefined, more: Partial<View> = {}, rows = ROWS) =>
  listTable(rows, COLUMNS, {
    isWide: false,
    now: NOW,
    ...(columns === undefined ? {} : { screen: { columns, isColored: false } }),
    ...more,
  });

describe('a list', () => {
  it('leaves out columns from the right, cuts the last one that is left and any long cell, and says so', () => {
    expect(shown(70).split('\n').slice(2)).toEqual([
      `${ID}  Zoo of many words  enterprise`,
      '(--wide shows MADE, END)',
    ]);
    expect(shown(54).split('\n').slice(2)).toEqual([
      `${ID}  Zoo of many wor…`,
      '(--wide shows PLAN, MADE, END)',
    ]);
    const long = shown(200, {}, [[ID, 'n'.repeat(37), 'free', 1, 2]]).split('\n');
    expect(long.slice(1)).toEqual([`${ID}  ${'n'.repeat(35)}…  free  1     2`, '(--wide shows all)']);
  });

  it('does not confuse a cell that ends in an ellipsis with one that was cut', () => {
    expect(shown(200, {}, [[ID, 'pst_test_0000…', 'free', 1, 2]]).split('\n')).toHaveLength(2);
  });

  it.each([200, 100, 80, 77, 70, 60, 56, 50, 40, 36])(
    'never has a line longer than %i columns',
    (columns) => {
      for (const line of shown(columns).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    },
  );

  it('keeps an id whole even where it does not fit', () => {
    expect(shown(20)).toContain(ID);
  });

  it('keeps its columns under wide characters, combining marks and emoji', () => {
    const names = ['日本語の店', 'Zoë', 'Zoe\u0308', '한국', '🐾🐾', 'ｶﾌｪ', 'Acme'];
    const rows = names.map((name) => [ID, name, 'free', 1, 2]);
    const lines = shown(undefined, {}, rows).split('\n');
    const before = lines.map((line) => widthOf(line.slice(0, line.search(/free|PLAN/))));
    expect(new Set(before).size).toBe(1);
    const narrow = shown(60, {}, [[ID, '日本語の店日本語の店日本語の店', 'free', 1, 2]]).split('\n');
    for (const line of narrow) expect(widthOf(line)).toBeLessThanOrEqual(60);
  });

  it('writes control and format characters as their codes', () => {
    const text = shown(undefined, {}, [[ID, 'A\u001B[31mB\u0007\nC\u202ED', 'free', 1, 2]]);
    expect(text).toContain('A\\u{1b}[31mB\\u{7}\\u{a}C\\u{202e}D');
  });

  it('accepts any number of rows', () => {
    const rows = Array.from({ length: 200_000 }, () => [ID, 'Acme', 'free', 1, 2]);
    expect(shown(80, {}, rows).split('\n')).toHaveLength(200_001);
  });
});
