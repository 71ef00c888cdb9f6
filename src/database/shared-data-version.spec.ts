import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ALL_CACHED } from './data-version.js';
import type { InstanceNotices } from './postgres/instance-notices.js';
import type { SentCommit } from './postgres/late-commits.js';
import {
  SharedDataVersion,
  type SharedKind,
  type StateLink,
  type StateNames,
} from './shared-data-version.js';

/** What happened, in its order. */
let log: string[];
let isUp: boolean;
let version: SharedDataVersion;
let unannounced: Pick<InstanceNotices, 'begin' | 'confirm' | 'end'> & { quiet: number | undefined };

const link: StateLink = {
  withdraw(kinds) {
    if (!isUp) return Promise.reject(new Error('Redis is unavailable.'));
    log.push(`withdrawn ${kinds.join(' ')}`);
    const since = isUp;
    return Promise.resolve(() => since && isUp);
  },
  release(kinds) {
    log.push(`released ${kinds.join(' ')}`);
    return Promise.resolve();
  },
};

beforeEach(() => {
  log = [];
  isUp = true;
  unannounced = {
    quiet: 1,
    begin() {
      log.push('unannounced');
      return Promise.resolve('notice');
    },
    async confirm(begun, { done }) {
      await done;
      log.push(`confirmed ${begun}`);
    },
    end: () => void log.push('announced again'),
  };
  version = new SharedDataVersion(unannounced, (table) => table !== 'unknown');
  version.attach(link);
});

const named = (responses: string | null, keys: string | null = 'k'): StateNames =>
  new Map([
    ['responses', responses],
    ['keys', keys],
  ]);
/** A commit that has been sent; the same is done and over by default. */
const sent = <T>(done: Promise<T>, over: Promise<unknown> = done): Promise<SentCommit<T>> =>
  Promise.resolve({
    done,
    over: over.then(
      () => undefined,
      () => undefined,
    ),
    ask: () => Promise.resolve([]),
  });
const settled = () => new Promise((resolve) => setImmediate(resolve));
async function commit(kinds: readonly SharedKind[], failure?: Error, during?: () => void): Promise<unknown> {
  try {
    return await version.commit(kinds, () => {
      log.push('commit');
      during?.();
      return sent(failure ? Promise.reject(failure) : Promise.resolve('done'));
    });
  } finally {
    await settled();
  }
}
/** A promise that the test resolves. */
function later(): { readonly over: Promise<void>; readonly end: () => void } {
  let end!: () => void;
  const over = new Promise<void>((resolve) => (end = resolve));
  return { over, end };
}
/** A commit that fails, and may be carried out until it is over. */
async function failed(kinds: readonly SharedKind[], over: Promise<void>): Promise<void> {
  const committing = version.commit(kinds, () => sent(Promise.reject(new Error('late')), over));
  await expect(committing).rejects.toThrow('late');
}

/** What a commit does that is announced through the database, and one that is announced so as well. */
const UNANNOUNCED = ['unannounced', 'commit', 'confirmed notice', 'announced again'];
const TOLD_BOTH_WAYS = [
  'withdrawn responses',
  'commit',
  'unannounced',
  'confirmed notice',
  'announced again',
  'released responses',
];
const NOTHING = (): void => undefined;

describe('the version', () => {
  it('is unknown before a name came, while one is withdrawn, and when the link is lost', () => {
    expect(version.current('responses')).toBeUndefined();
    version.heard(named('a'));
    expect(version.current('responses')).toBeTypeOf('number');
    version.heard(named(null));
    expect(version.current('responses')).toBeUndefined();
    expect(version.current('keys')).toBeTypeOf('number');
    version.lost();
    expect(ALL_CACHED.map((kind) => version.current(kind))).toEqual([undefined, undefined, undefined]);
  });

  it('of rows is that of all answers: instances tell each other of no new rows by themselves', async () => {
    version.heard(named('a'));
    expect(version.current('rows')).toBe(version.current('responses'));
    const before = version.current('rows');
    await commit(['responses']);
    version.heard(named('b'));
    expect(version.current('rows')).not.toBe(before);
    expect(log).toEqual(['withdrawn responses', 'commit', 'released responses']);
  });

  it('is another one for each name, also when a name was away in between', () => {
    const seen = ['a', 'a', 'b', null, 'b', 'c'].map((name) => {
      version.heard(named(name));
      return version.current('responses');
    });
    expect(seen[0]).toBe(seen[1]);
    const known = seen.slice(1).filter((one) => one !== undefined);
    expect(new Set(known).size).toBe(known.length);
  });

  it('is unknown while anybody may write unannounced', () => {
    version.heard(named('a'));
    const before = version.current('responses');
    unannounced.quiet = undefined;
    expect(version.current('responses')).toBeUndefined();
    unannounced.quiet = 2;
    expect(version.current('responses')).not.toBe(before);
  });
});

describe('the version of a table', () => {
  const ofPets = () => version.versions().ofTable?.('pets');
  const heard = (names: Partial<Record<SharedKind, string | null>>) =>
    version.heard(new Map(Object.entries(names) as [SharedKind, string | null][]));

  it('is asked for from its first use on, and is unknown before its name has come', () => {
    heard({ responses: 'a', keys: 'k', tables: 't' });
    expect(version.kinds).not.toContain('table:pets');
    expect(ofPets()).toBeUndefined();
    expect(version.kinds).toContain('table:pets');
    heard({ responses: 'a', keys: 'k', tables: 't', 'table:pets': 'p' });
    expect(ofPets()).toBeTypeOf('number');
  });

  it.each<[change: string, names: Partial<Record<SharedKind, string | null>>, isKept: boolean]>([
    ['another table was written', { responses: null }, true],
    ['it was written', { 'table:pets': 'q' }, false],
    ['nobody knows which was written', { tables: 'u' }, false],
    ['its writer is under way', { 'table:pets': null }, false],
    ['a writer is under way that does not know its tables', { tables: null }, false],
  ])('where %s: kept %o', (_, names, isKept) => {
    ofPets();
    const before = { responses: 'a', keys: 'k', tables: 't', 'table:pets': 'p' };
    heard(before);
    const seen = ofPets();
    heard({ ...before, ...names });
    expect(ofPets() === seen).toBe(isKept);
  });

  it('stays as it was for who has asked before', () => {
    ofPets();
    heard({ responses: 'a', keys: 'k', tables: 't', 'table:pets': 'p' });
    const before = version.versions();
    const seen = before.ofTable?.('pets');
    heard({ responses: 'a', keys: 'k', tables: 't', 'table:pets': 'q' });
    expect(before.ofTable?.('pets')).toBe(seen);
    expect(ofPets()).not.toBe(seen);
  });

  it('is none where not all that changes it is told', () => {
    heard({ responses: 'a', keys: 'k', tables: 't', 'table:unknown': 'p' });
    expect(version.versions().ofTable?.('unknown')).toBeUndefined();
  });
});

describe('while instances may use different Redis servers', () => {
  beforeEach(() => {
    version.heard(named('a'));
    version.isSplit = () => true;
  });

  it('nothing is cached', () => {
    expect(ALL_CACHED.map((kind) => version.current(kind))).toEqual([undefined, undefined, undefined]);
  });

  it('a commit that began before is told through the database as well, before it is acknowledged', async () => {
    version.isSplit = () => log.includes('commit');
    await commit(['responses']);
    expect(log).toEqual(TOLD_BOTH_WAYS);
  });
});

describe('a commit', () => {
  const split = () => (version.isSplit = () => true);
  const away = () => void (isUp = false);
  it.each<[what: string, kinds: SharedKind[], before: () => unknown, during: () => void, told: string[]]>([
    [
      'that changes what is cached',
      ['keys'],
      NOTHING,
      NOTHING,
      ['withdrawn keys', 'commit', 'released keys'],
    ],
    ['that changes nothing that is cached', [], NOTHING, NOTHING, ['commit']],
    ['while instances may use different Redis servers', ['responses'], split, NOTHING, UNANNOUNCED],
    ['while Redis is away', ['responses', 'keys'], away, NOTHING, UNANNOUNCED],
    ['during which Redis failed', ['responses'], NOTHING, away, TOLD_BOTH_WAYS],
  ])('%s is told before it is acknowledged', async (_, kinds, before, during, told) => {
    before();
    expect(await commit(kinds, undefined, during)).toBe('done');
    expect(log).toEqual(told);
  });

  it('that certainly failed gives the names back', async () => {
    await expect(commit(['keys'], new Error('no'))).rejects.toThrow('no');
    expect(log).toEqual(['withdrawn keys', 'commit', 'released keys']);
  });

  it('that is not over leaves the names withdrawn, anew before the first withdrawal has expired', async () => {
    vi.useFakeTimers();
    const { over, end } = later();
    await failed(['keys'], over);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(log).toEqual(['withdrawn keys']);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(log.slice(1)).toEqual(['withdrawn keys', 'withdrawn keys']);
    end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(log.slice(3)).toEqual(['released keys']);
    vi.useRealTimers();
  });

  it.each<[changed: string, kinds: SharedKind[], last: string[]]>([
    ['a table', ['responses', 'table:pets'], ['withdrawn tables', 'released tables']],
    ['no known table', ['responses', 'tables'], []],
  ])('of %s beside which a migration may have ended voids all tables', async (_, kinds, last) => {
    await commit(kinds, undefined, () => (unannounced.quiet = 2));
    const names = kinds.join(' ');
    expect(log).toEqual([`withdrawn ${names}`, 'commit', ...last, `released ${names}`]);
  });

  it('that may still be carried out gives the names back when it is over, and is told through the database until then', async () => {
    for (const isRedisUp of [true, false]) {
      isUp = isRedisUp;
      log = [];
      const { over, end } = later();
      await failed(['keys'], over);
      const begun = [...log];
      end();
      await settled();
      expect([begun, log.slice(begun.length)]).toEqual(
        isRedisUp ? [['withdrawn keys'], ['released keys']] : [['unannounced'], ['announced again']],
      );
    }
  });

  it('that may still be carried out is another version once it is over', async () => {
    version = new SharedDataVersion(unannounced, (table) => table !== 'unknown');
    const { over, end } = later();
    await failed(['keys'], over);
    const before = version.current('keys');
    end();
    await settled();
    expect(version.current('keys')).not.toBe(before);
  });

  it('is announced so for several at once as long as any of them is under way', async () => {
    isUp = false;
    const { over, end } = later();
    const long = version.commit(['keys'], () => sent(over));
    await commit(['keys']);
    expect(log).not.toContain('announced again');
    end();
    await long;
    await settled();
    expect(log.filter((line) => line === 'announced again')).toHaveLength(1);
  });
});
