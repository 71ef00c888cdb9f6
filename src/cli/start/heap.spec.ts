import { execFileSync } from 'node:child_process';
import v8 from 'node:v8';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepHeapSmall } from './heap.js';

/** The options that are set in a process that was started with these. */
function optionsSet(execArgv: readonly string[]): string[] {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue();
  const started = vi.spyOn(process, 'execArgv', 'get').mockReturnValue([...execArgv]);
  onTestFinished(() => [set, started].forEach((spy) => spy.mockRestore()));
  keepHeapSmall();
  return set.mock.calls.map(([option]) => option);
}

it('sets options that this V8 has', () => {
  const options = optionsSet([]);
  expect(options).toHaveLength(2);
  // Node.js refuses to start with one that V8 does not have.
  expect(String(execFileSync(process.execPath, [...options, '--print', '1 + 1']))).toBe('2\n');
  expect(() => execFileSync(process.execPath, ['--no-such-option', '-e', '0'], { stdio: 'ignore' })).toThrow(
    'Command failed',
  );
});

it.each([['--heap-growing-percent=100'], ['--heap_growing_percent=100']])(
  'leaves what the process was started with as it is: %s',
  (option) => {
    expect(optionsSet([option, '--max-old-space-size=128'])).toEqual(['--no-allocation-site-pretenuring']);
  },
);
