import { describe, expect, it } from 'vitest';
import { TestClock } from '../../test/support/test-clock.js';
import { ApiKey } from '../accounts/api-key.entity.js';
import { CommittedState, OwnWrites, type RememberedKind, UnknownState } from '../database/data-version.js';
import { KeyMemory } from './key-cache.js';

const KEY = new ApiKey();

/** A database to which answers are added all the time, and no key. */
class NewAnswers extends CommittedState {
  private answers = 0;

  current(remembered: RememberedKind): number {
    return remembered === 'keys' ? 0 : (this.answers += 1);
  }
}

/** A memory beside a database, on a clock that stands still. */
function open<State extends CommittedState>(database: State) {
  const clock = new TestClock('2026-11-20T12:00:00.000Z');
  const memory = new KeyMemory(database, clock);
  /** Remembers what was read now. */
  const remember = (digest: string, key: ApiKey | undefined) => memory.remember(digest, key, memory.state());
  return { clock, database, memory, remember };
}

describe.each([
  ['a key', KEY],
  ['that there is no key', undefined],
])('%s', (_, key) => {
  it('is remembered for its digest alone', () => {
    const { memory, remember } = open(new OwnWrites());
    expect(memory.recall('digest')).toBeUndefined();
    remember('digest', key);
    expect(memory.recall('digest')).toMatchObject({ key });
    expect(memory.recall('other')).toBeUndefined();
  });

  it.each([
    ['at once', 0, true],
    ['just before 5 seconds', 4_999, true],
    ['from 5 seconds on', 5_000, false],
  ])('is remembered %s: %d ms', (_when, milliseconds, remembered) => {
    const { clock, memory, remember } = open(new OwnWrites());
    remember('digest', key);
    clock.advance(milliseconds);
    expect(memory.recall('digest') !== undefined).toBe(remembered);
  });

  it('is remembered no longer because the clock was put back', () => {
    const { clock, memory, remember } = open(new OwnWrites());
    remember('digest', key);
    clock.advance(-3_600_000);
    clock.advance(5_000);
    expect(memory.recall('digest')).toBeUndefined();
  });

  it('is remembered until something is committed', () => {
    const { database, memory, remember } = open(new OwnWrites());
    remember('digest', key);
    database.note();
    expect(memory.recall('digest')).toBeUndefined();
  });

  it('is remembered while commits change answers alone', () => {
    const { memory, remember } = open(new NewAnswers());
    remember('digest', key);
    expect(memory.recall('digest')).toMatchObject({ key });
  });

  it('is not remembered when something was committed while it was read', () => {
    const { database, memory } = open(new OwnWrites());
    const before = memory.state();
    database.note();
    memory.remember('digest', key, before);
    expect(memory.recall('digest')).toBeUndefined();
  });

  it('is remembered for 5 seconds from when it was read the last time', () => {
    const { clock, memory, remember } = open(new OwnWrites());
    remember('digest', key);
    clock.advance(4_999);
    remember('digest', key);
    clock.advance(4_999);
    expect(memory.recall('digest')).toMatchObject({ key });
  });
});

describe('a database that cannot tell of commits', () => {
  it('lets a key be remembered for 5 seconds', () => {
    const { clock, memory, remember } = open(new UnknownState());
    remember('digest', KEY);
    clock.advance(4_999);
    expect(memory.recall('digest')).toMatchObject({ key: KEY });
    clock.advance(1);
    expect(memory.recall('digest')).toBeUndefined();
  });

  it('lets nobody remember that there is no key: a new one must work at once', () => {
    const { memory, remember } = open(new UnknownState());
    remember('digest', undefined);
    expect(memory.recall('digest')).toBeUndefined();
  });
});

describe.each([
  ['keys', KEY, 10_000],
  ['digests of no key', undefined, 1_000],
])('of %s', (_, key, most) => {
  const full = () => {
    const opened = open(new OwnWrites());
    for (let read = 0; read < most; read += 1) opened.remember(`digest ${read}`, key);
    return opened;
  };

  it('only so many are remembered, and the first one is forgotten first', () => {
    const { memory, remember } = full();
    expect(memory.recall('digest 0')).toBeDefined();
    remember('one more', key);
    expect(memory.recall('digest 0')).toBeUndefined();
    for (const digest of ['digest 1', `digest ${most - 1}`, 'one more'])
      expect(memory.recall(digest)).toBeDefined();
  });

  it('one that is read again is no further one, and the last to be forgotten', () => {
    const { memory, remember } = full();
    remember('digest 0', key);
    expect(memory.recall('digest 1')).toBeDefined();
    remember('one more', key);
    expect(memory.recall('digest 0')).toBeDefined();
    expect(memory.recall('digest 1')).toBeUndefined();
  });

  it('those that are void make room: as many more are remembered in the next state', () => {
    const { database, memory, remember } = full();
    database.note();
    for (let read = 0; read < most; read += 1) memory.recall(`digest ${read}`);
    remember('first of the new state', key);
    for (let read = 1; read < most; read += 1) remember(`new ${read}`, key);
    expect(memory.recall('first of the new state')).toBeDefined();
  });

  it('others have room of their own: a flood of the one kind forgets none of the other', () => {
    const { memory, remember } = open(new OwnWrites());
    remember('of the other kind', key ? undefined : KEY);
    for (let read = 0; read <= most; read += 1) remember(`digest ${read}`, key);
    expect(memory.recall('of the other kind')).toBeDefined();
  });
});

it('a digest of which there was no key, and then one, has the key', () => {
  const { database, memory, remember } = open(new OwnWrites());
  remember('digest', undefined);
  database.note();
  remember('digest', KEY);
  expect(memory.recall('digest')?.key).toBe(KEY);
});

it('a digest of which there was a key, and then none, has none', () => {
  const { database, memory, remember } = open(new OwnWrites());
  remember('digest', KEY);
  database.note();
  expect(memory.recall('digest')).toBeUndefined();
  remember('digest', undefined);
  expect(memory.recall('digest')).toMatchObject({ key: undefined });
});
