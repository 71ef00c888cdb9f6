import { beforeEach, describe, expect, it } from 'vitest';
import { ALL_CACHED, type CachedKind } from './data-version.js';
import {
  SharedDataVersion,
  type StateLink,
  type StateNames,
  type UnannouncedWrites,
} from './shared-data-version.js';

/** What happened, in its order. */
let log: string[];
let isUp: boolean;
let version: SharedDataVersion;
let unannounced: UnannouncedWrites & { isQuiet: boolean };

const link: StateLink = {
  withdraw(kinds) {
    if (!isUp) return Promise.reject(new Error('Redis is away.'));
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
    isQuiet: true,
    begin: () => Promise.resolve(void log.push('unannounced')),
    end: () => void log.push('announced again'),
    watch: () => undefined,
  };
  version = new SharedDataVersion(unannounced);
  version.attach(link);
});

const named = (responses: string | null, keys: string | null = 'k'): StateNames => ({ responses, keys });
const commit = (kinds: readonly CachedKind[], failure?: Error, isOutcomeKnown = true) =>
  version.commit(
    kinds,
    () => {
      log.push('commit');
      return failure ? Promise.reject(failure) : Promise.resolve('done');
    },
    () => (isOutcomeKnown ? Promise.resolve() : undefined),
  );

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
    unannounced.isQuiet = false;
    expect(version.current('responses')).toBeUndefined();
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

  it('a commit is told through the database', async () => {
    expect(await commit(['responses'])).toBe('done');
    expect(log).toEqual(['unannounced', 'commit', 'announced again']);
  });

  it('a commit that began before is told through the database as well, before it is acknowledged', async () => {
    version.isSplit = () => log.includes('commit');
    await commit(['responses']);
    expect(log).toEqual([
      'withdrawn responses',
      'commit',
      'unannounced',
      'announced again',
      'released responses',
    ]);
  });
});

describe('a commit', () => {
  it('comes when the names are withdrawn, and before they are released', async () => {
    expect(await commit(['responses'])).toBe('done');
    expect(log).toEqual(['withdrawn responses', 'commit', 'released responses']);
  });

  it('that changes nothing that is cached tells nobody', async () => {
    await commit([]);
    expect(log).toEqual(['commit']);
  });

  it('that certainly failed gives the names back', async () => {
    await expect(commit(['keys'], new Error('no'))).rejects.toThrow('no');
    expect(log).toEqual(['withdrawn keys', 'commit', 'released keys']);
  });

  it('whose outcome is not known leaves the names withdrawn', async () => {
    await expect(commit(['keys'], new Error('gone'), false)).rejects.toThrow('gone');
    expect(log).toEqual(['withdrawn keys', 'commit']);
  });

  it('that may still be carried out gives the names back when it is over, and is told through the database until then', async () => {
    for (const isRedisUp of [true, false]) {
      isUp = isRedisUp;
      log = [];
      let end!: () => void;
      const over = new Promise<void>((resolve) => (end = resolve));
      const failed = version.commit(
        ['keys'],
        () => Promise.reject(new Error('late')),
        () => over,
      );
      await expect(failed).rejects.toThrow('late');
      const begun = [...log];
      end();
      await over;
      await Promise.resolve();
      expect([begun, log.slice(begun.length)]).toEqual(
        isRedisUp ? [['withdrawn keys'], ['released keys']] : [['unannounced'], ['announced again']],
      );
    }
  });

  it('that may still be carried out is another version once it is over', async () => {
    version = new SharedDataVersion(unannounced);
    let end!: () => void;
    const over = new Promise<void>((resolve) => (end = resolve));
    const failed = version.commit(
      ['keys'],
      () => Promise.reject(new Error('late')),
      () => over,
    );
    await expect(failed).rejects.toThrow('late');
    const before = version.current('keys');
    end();
    await over;
    await Promise.resolve();
    expect(version.current('keys')).not.toBe(before);
  });

  it('is announced through the database while Redis is away', async () => {
    isUp = false;
    await commit(ALL_CACHED);
    expect(log).toEqual(['unannounced', 'commit', 'announced again']);
  });

  it('is announced through the database before it is acknowledged when Redis failed during it', async () => {
    await version.commit(
      ['responses'],
      () => {
        isUp = false;
        log.push('commit');
        return Promise.resolve();
      },
      () => Promise.resolve(),
    );
    expect(log).toEqual([
      'withdrawn responses',
      'commit',
      'unannounced',
      'announced again',
      'released responses',
    ]);
  });

  it('is announced so for several at once as long as any of them is under way', async () => {
    isUp = false;
    let end!: () => void;
    const long = version.commit(
      ['keys'],
      () => new Promise<void>((resolve) => (end = resolve)),
      () => Promise.resolve(),
    );
    await commit(['keys']);
    expect(log).not.toContain('announced again');
    end();
    await long;
    expect(log.filter((line) => line === 'announced again')).toHaveLength(1);
  });
});
