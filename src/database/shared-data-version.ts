import { randomUUID } from 'node:crypto';
import { DataVersion, NO_VERSIONS, type Versions } from './data-version.js';
import type { InstanceNotices } from './postgres/instance-notices.js';
import type { SentCommit } from './postgres/late-commits.js';

/**
 * Kinds of changes that instances report to each other: anything, keys, rows of one table, or of an unknown one. New rows
 * change all responses of their table: the order of ids is not that of commits.
 */
export type SharedKind = 'responses' | 'keys' | 'tables' | `table:${string}`;

/** The rows of one table, as instances report them to each other. */
export function kindOfTable(table: string): SharedKind {
  return `table:${table}`;
}

/** The names of the cached states, from a response of Redis; null while a writer is active. */
export type StateNames = ReadonlyMap<SharedKind, string | null>;

/** The channel on which instances announce writes to each other. */
export interface StateLink {
  /**
   * Makes the names of these kinds unknown to all instances until `release`, or for a minute. Rejects when that is not certain. Answers
   * a function that shows whether it has been so without a break. `writer` names the commit.
   */
  withdraw(kinds: readonly SharedKind[], writer: string): Promise<() => boolean>;
  /** The writer is done: gives these kinds new names, once no other writer is under way. Never rejects. */
  release(kinds: readonly SharedKind[], writer: string): Promise<void>;
}

/** The announcement of a commit to the other instances. */
interface Announced {
  /** Call it when the commit has just been sent. Resolves once the commit is done and all instances certainly knew of it until then. */
  readonly confirm: (sent: SentCommit<unknown>) => Promise<void>;
  /** It is over. */
  readonly end: () => void;
}

/**
 * The data version of a database that several instances share. A random name of each state is in Redis and comes with every
 * decision on a quota, so no request waits for it. A writer withdraws the name before its commit, and a new one is set after it: what
 * was cached by the old name is not used again by anyone. A writer that dies in between leaves no name. Where the link to Redis
 * fails, its writers say so through the database, and what this process has cached is invalid.
 */
export class SharedDataVersion extends DataVersion {
  /**
   * Whether instances may have names from different Redis servers. Then this one caches nothing, and its writers say so through the
   * database, which all instances look at.
   */
  isSplit: () => boolean = () => false;
  /** Kinds that this instance caches: all, and the tables of cached responses. */
  kinds: readonly SharedKind[] = ['responses', 'keys', 'tables'];
  private link: StateLink | undefined;
  private names: StateNames = new Map();
  /** How often each has changed. Another map after each change: what has been asked for stays as it was. */
  private counts: ReadonlyMap<SharedKind, number> = new Map();
  private underWay = 0;

  /** `isTold` returns whether writers report all that changes rows of a table. */
  constructor(
    private readonly unannounced: Pick<InstanceNotices, 'begin' | 'confirm' | 'end' | 'quiet'>,
    private readonly isTold: (table: string) => boolean,
  ) {
    super();
  }

  override get isComplete(): boolean {
    return false;
  }

  /** Whether a name comes with every request; then nothing may be cached without one. */
  override get isShared(): boolean {
    return this.link !== undefined;
  }

  /** Uses a link from now on. */
  attach(link: StateLink): void {
    this.link = link;
  }

  /** Notes the names that a response of Redis had. */
  heard(names: StateNames): void {
    const { names: before } = this;
    this.names = names;
    this.raise(this.kinds.filter((kind) => names.get(kind) !== before.get(kind)));
  }

  /** The link failed: from now on nothing is known. */
  lost(): void {
    this.heard(new Map());
  }

  /** Without Redis one instance serves, and sees its own commits: keys, which are cached for seconds, need no more. */
  versions(): Versions {
    const { names, counts } = this;
    if (!this.link) return { ...NO_VERSIONS, keys: counts.get('keys') ?? 0 };
    const { quiet } = this.unannounced;
    if (this.isSplit() || quiet === undefined) return NO_VERSIONS;
    // What was cached before an unannounced write is invalid after it.
    const versionOf = (...kinds: SharedKind[]): number | undefined =>
      kinds.every((kind) => typeof names.get(kind) === 'string')
        ? kinds.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), quiet)
        : undefined;
    const responses = versionOf('responses');
    const ofTable = (table: string): number | undefined =>
      this.isTold(table) ? versionOf('tables', this.watched(table)) : undefined;
    return { responses, rows: responses, keys: versionOf('keys'), ofTable };
  }

  /**
   * Commits what changes these kinds of what instances cache, so that no instance uses what it had cached before from the moment at which
   * this resolves. One that failed may be carried out until it is over: until then the others know of it.
   */
  async commit<T>(kinds: readonly SharedKind[], send: () => Promise<SentCommit<T>>): Promise<T> {
    if (kinds.length === 0) return (await send()).done;
    const announced = await this.announce(kinds);
    let over = Promise.resolve();
    try {
      const sent = await send();
      ({ over } = sent);
      await announced.confirm(sent);
      return await sent.done;
    } finally {
      this.raise(kinds);
      void over.then(() => this.raise(kinds)).then(announced.end);
    }
  }

  private raise(kinds: readonly SharedKind[]): void {
    if (kinds.length === 0) return;
    const counts = new Map(this.counts);
    for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    this.counts = counts;
  }

  /** From now on the name of a table comes along, too. */
  private watched(table: string): SharedKind {
    const kind = kindOfTable(table);
    if (!this.kinds.includes(kind)) this.kinds = [...this.kinds, kind];
    return kind;
  }

  private async announce(kinds: readonly SharedKind[]): Promise<Announced> {
    const link = this.isSplit() ? undefined : this.link;
    const inRedis = link && (await this.inRedis(link, kinds).catch(() => undefined));
    return inRedis ?? this.byNotice();
  }

  private async inRedis(link: StateLink, kinds: readonly SharedKind[]): Promise<Announced> {
    const { quiet } = this.unannounced;
    const writer = randomUUID();
    const isWithdrawn = await link.withdraw(kinds, writer);
    // A writer that says nothing for a minute counts as dead.
    const renewal = setInterval(
      () => void link.withdraw(kinds, writer).catch(() => undefined),
      RENEWAL_MS,
    ).unref();
    return {
      confirm: async (sent) => {
        await sent.done;
        // A migration that ended in the meantime may have made it change more tables.
        if (!kinds.includes('tables') && this.unannounced.quiet !== quiet)
          await this.inRedis(link, ['tables']).then(
            ({ end }) => end(),
            () => undefined,
          );
        // Redis may have forgotten in the meantime that this one writes.
        if (isWithdrawn() && !this.isSplit()) return;
        const notice = await this.byNotice();
        await notice.confirm(sent).finally(notice.end);
      },
      end: () => {
        clearInterval(renewal);
        void link.release(kinds, writer);
      },
    };
  }

  private async byNotice(): Promise<Announced> {
    const end = () => {
      this.underWay -= 1;
      if (this.underWay === 0) this.unannounced.end();
    };
    this.underWay += 1;
    try {
      const begun = await this.unannounced.begin();
      return { confirm: (sent) => this.unannounced.confirm(begun, sent), end };
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** How often a writer says that it is still under way, in milliseconds. */
const RENEWAL_MS = 20_000;
