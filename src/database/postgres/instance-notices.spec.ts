import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { InstanceNotice } from './instance-notice.entity.js';
import { InstanceNotices } from './instance-notices.js';
import type { SideSession } from './side-session.js';

type Row = Pick<InstanceNotice, 'id' | 'says' | 'beat'>;

/** The table, or why it cannot be asked. */
let rows: Map<string, Row>;
let failure: Error | undefined;
let canWrite: boolean;
let instances: InstanceNotices[];

/** What the statements do, told apart by their first words. */
function ask(text: string, [first, second]: unknown[] = []): Promise<object[]> {
  if (failure) return Promise.reject(failure);
  if (!text.startsWith('SELECT') && !canWrite) return Promise.reject(new Error('read-only'));
  const ids = (Array.isArray(first) ? first : [first]) as string[];
  if (text.startsWith('INSERT'))
    rows.set(ids[0] ?? '', { id: ids[0] ?? '', says: second as InstanceNotice['says'], beat: 0 });
  if (text.startsWith('UPDATE')) for (const row of rows.values()) if (ids.includes(row.id)) row.beat += 1;
  if (text.startsWith('DELETE'))
    for (const id of ids) if (second === undefined || rows.get(id)?.beat === second) rows.delete(id);
  const found = text.includes('WHERE id = $1') ? [rows.get(ids[0] ?? '')] : [...rows.values()];
  return Promise.resolve(found.filter((row) => row !== undefined).map((row) => ({ ...row })));
}

function instance(): InstanceNotices {
  const one = new InstanceNotices({ ask, renew() {}, close: async () => {} } as unknown as SideSession);
  instances.push(one);
  return one;
}

/** Lets so many milliseconds pass. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const isDone = async (promise: Promise<unknown>) => {
  let done = false;
  void promise.then(() => (done = true));
  await pass(0);
  return done;
};
const give = (says: InstanceNotice['says']) => rows.set(says, { id: says, says, beat: 0 });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'performance'] });
  [rows, failure, canWrite, instances] = [new Map(), undefined, true, []];
});
afterEach(() => Promise.all(instances.map((one) => one.close())));

describe('an instance that caches', () => {
  it('caches once the others can read so', async () => {
    const one = instance();
    expect(one.quiet).toBeUndefined();
    await pass(1_000);
    expect(one.quiet).toBeTypeOf('number');
    expect([...rows.values()].map(({ says }) => says)).toEqual(['caches']);
  });

  it.each<[string, () => void, () => void, number]>([
    ['somebody writes unannounced', () => give('writes'), () => rows.delete('writes'), 1_200],
    ['its notice is gone', () => rows.clear(), () => undefined, 0],
    ['it cannot look', () => (failure = new Error('away')), () => (failure = undefined), 1_200],
    ['it cannot show that it lives', () => (canWrite = false), () => (canWrite = true), 12_000],
  ])('does not while %s, and after that uses nothing of before', async (_, begin, end, lastsMs) => {
    const one = instance();
    void one.quiet;
    await pass(4_000);
    const before = one.quiet;
    begin();
    if (lastsMs > 0) {
      await pass(lastsMs);
      expect(one.quiet).toBeUndefined();
    }
    end();
    await pass(lastsMs === 0 ? 250 : 4_000);
    if (lastsMs > 0) expect([typeof one.quiet, one.quiet === before]).toEqual(['number', false]);
    else expect([...rows.values()]).toHaveLength(1);
  });

  it('removes the notice of one that has died, and of no other', async () => {
    const [one, other] = [instance(), instance()];
    void one.quiet;
    give('writes');
    await other.begin();
    await pass(14_000);
    expect(rows.size).toBe(3);
    await pass(5_000);
    expect([...rows.values()].map(({ says }) => says).toSorted()).toEqual(['caches', 'writes']);
    expect(rows.has('writes')).toBe(false);
  });
});

describe('an instance that writes unannounced', () => {
  it.each([
    ['waits until no look of others counts any more', true, 1_200],
    ['waits for nobody where no other caches', false, 0],
  ])('%s', async (_, isCached, ms) => {
    if (isCached) give('caches');
    const begun = instance().begin();
    if (ms > 0) {
      await pass(ms - 1);
      expect(await isDone(begun)).toBe(false);
    }
    await pass(1);
    expect(await isDone(begun)).toBe(true);
  });

  it.each<[answer: string, wasThere: () => Promise<object[]>, ms: number]>([
    ['was there', () => Promise.resolve([{}]), 0],
    ['was gone', () => Promise.resolve([]), 1_200],
    ['could not be asked for', () => Promise.reject(new Error('away')), 1_200],
  ])('acknowledges once all know: %s behind the commit', async (_, wasThere, ms) => {
    const one = instance();
    const id = await one.begin();
    give('caches');
    if (ms > 0) rows.delete(id);
    const confirmed = one.confirm(id, { done: Promise.resolve(), over: Promise.resolve(), ask: wasThere });
    if (ms > 0) {
      await pass(ms - 100);
      expect(await isDone(confirmed)).toBe(false);
      await pass(100);
    }
    expect(await isDone(confirmed)).toBe(true);
    expect([...rows.values()].map(({ says }) => says).toSorted()).toEqual(['caches', 'writes']);
  });

  it('takes its notice back a while after the last write', async () => {
    const one = instance();
    await one.begin();
    one.end();
    await pass(1_900);
    expect(rows.size).toBe(1);
    await pass(200);
    expect(rows.size).toBe(0);
  });
});
