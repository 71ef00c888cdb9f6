import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { TurnLines } from './turn-lines.js';

it('passes on the lines of a turn together, in order, and long ones before the turn has ended', async () => {
  const passedOn: string[] = [];
  const lines = new TurnLines({ write: (text) => void passedOn.push(text) });
  lines.write('1\n');
  lines.write('2\n');
  expect(passedOn).toEqual([]);
  await setImmediate();
  expect(passedOn).toEqual(['1\n2\n']);

  const long = `${'x'.repeat(65_536)}\n`;
  lines.write('3\n');
  lines.write(long);
  expect(passedOn.slice(1)).toEqual([`3\n${long}`]);
  lines.write('4\n');
  lines.passOn();
  lines.passOn();
  await setImmediate();
  expect(passedOn.slice(2)).toEqual(['4\n']);
});
