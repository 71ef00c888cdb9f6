import { type CachedKind, DataVersion, NO_VERSIONS, type Versions } from './data-version.js';

/** What instances tell each other of. New rows change all answers: the order of ids is not that of commits. */
export type SharedKind = Exclude<CachedKind, 'rows'>;

/** Everything that they tell each other of. */
export const ALL_SHARED: readonly SharedKind[] = ['responses', 'keys'];

/** The names of the states of what is cached, as an answer of Redis has them; null while a writer is under way. */
export type StateNames = Readonly<Record<SharedKind, string | null>>;

/** Where instances tell one another that they write. */
export interface StateLink {
  /**
   * Makes the names of these kinds unknown to all instances until `release`. Rejects when that is not certain. Answers a function that
   * tells whether it has been so without a break.
   */
  withdraw(kinds: readonly SharedKind[]): Promise<() => boolean>;
  /** The writer is done: gives these kinds new names, once no other writer is under way. Never rejects. */
  release(kinds: readonly SharedKind[]): Promise<void>;
}

/** Tells the instances that cache, past Redis, that another writes without telling it there. */
export interface UnannouncedWrites {
  /** Resolves when no instance caches anything any more, or begins to, until `end`. */
  begin(): Promise<void>;
  /** Instances may cache again, after a while. Never throws. */
  end(): void;
  /** Whether nobody writes unannounced, as far as this process knows now. */
  readonly isQuiet: boolean;
  /** This process caches from now on. */
  watch(): void;
}

/** When a commit that failed with this error changes nothing any more; undefined when nobody will know. */
type WhenOver = (error: unknown) => Promise<void> | undefined;

/**
 * The data version of a database that several instances share. A random name of each state lies in Redis and comes with every
 * decision on a quota, so no request waits for it. A writer withdraws the name before its commit, and a new one is set after it: what
 * was cached by the old name is not used again by anyone. A writer that dies in between leaves no name. Where the link to Redis
 * fails, its writers say so through the database, and what this process has cached is void.
 */
export class SharedDataVersion extends DataVersion {
  /**
   * Whether instances may have names from different Redis servers. Then this one caches nothing, and its writers say so through the
   * database, which all instances look at.
   */
  isSplit: () => boolean = () => false;
  private link: StateLink | undefined;
  private names: StateNames = NO_NAMES;
  private readonly counts: Record<SharedKind, number> = { responses: 0, keys: 0 };
  private underWay = 0;

  constructor(private readonly unannounced: UnannouncedWrites) {
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
    this.unannounced.watch();
  }

  /** Notes the names that an answer of Redis had. */
  heard(names: StateNames): void {
    for (const kind of ALL_SHARED) if (names[kind] !== this.names[kind]) this.counts[kind] += 1;
    this.names = names;
  }

  /** The link failed: from now on nothing is known. */
  lost(): void {
    this.heard(NO_NAMES);
  }

  /** Without Redis one instance serves, and sees its own commits: keys, which are cached for seconds, need no more. */
  versions(): Versions {
    if (!this.link) return { ...NO_VERSIONS, keys: this.counts.keys };
    if (this.isSplit() || !this.unannounced.isQuiet) return NO_VERSIONS;
    const { names, counts } = this;
    const responses = names.responses === null ? undefined : counts.responses;
    return { responses, rows: responses, keys: names.keys === null ? undefined : counts.keys };
  }

  /**
   * Commits what changes these kinds of what is cached, so that no instance uses what it had cached before from the moment at which
   * this resolves. `whenOver` tells of a commit that failed when it is certain that it changes nothing any more: until then the names
   * stay withdrawn. Undefined when nobody will know: then until that expires.
   */
  async commit<T>(changes: readonly CachedKind[], commit: () => Promise<T>, whenOver: WhenOver): Promise<T> {
    const kinds = ALL_SHARED.filter((kind) => changes.includes(kind));
    if (kinds.length === 0) return commit();
    try {
      return await this.announced(kinds, commit, whenOver);
    } catch (error) {
      void whenOver(error)?.then(() => this.raise(kinds));
      throw error;
    } finally {
      this.raise(kinds);
    }
  }

  private raise(kinds: readonly SharedKind[]): void {
    for (const kind of kinds) this.counts[kind] += 1;
  }

  private async announced<T>(
    kinds: readonly SharedKind[],
    commit: () => Promise<T>,
    whenOver: WhenOver,
  ): Promise<T> {
    const link = this.isSplit() ? undefined : this.link;
    const isWithdrawn = await link?.withdraw(kinds).catch(() => undefined);
    if (!link || !isWithdrawn) return this.commitUnannounced(commit, whenOver);
    let result: T;
    try {
      result = await commit();
    } catch (error) {
      const over = whenOver(error);
      if (over) void this.releaseAfter(over, link, kinds);
      throw error;
    }
    // Redis may have forgotten in the meantime that this one writes.
    if (!isWithdrawn() || this.isSplit()) await this.commitUnannounced(() => Promise.resolve(), whenOver);
    void link.release(kinds);
    return result;
  }

  private async commitUnannounced<T>(commit: () => Promise<T>, whenOver: WhenOver): Promise<T> {
    this.underWay += 1;
    let over: Promise<void> | undefined;
    try {
      await this.unannounced.begin();
      return await commit();
    } catch (error) {
      over = whenOver(error);
      throw error;
    } finally {
      if (over) void over.then(() => this.endUnannounced());
      else this.endUnannounced();
    }
  }

  private endUnannounced(): void {
    this.underWay -= 1;
    if (this.underWay === 0) this.unannounced.end();
  }

  private async releaseAfter(
    over: Promise<void>,
    link: StateLink,
    kinds: readonly SharedKind[],
  ): Promise<void> {
    // A writer that says nothing for a minute counts as dead.
    const renewal = setInterval(() => {
      link.withdraw(kinds).then(
        () => link.release(kinds),
        () => undefined,
      );
    }, RENEWAL_MS);
    // The timer alone must not keep the process running.
    renewal.unref();
    await over;
    clearInterval(renewal);
    await link.release(kinds);
  }
}

/** How often a writer says that it is still under way, in milliseconds. */
const RENEWAL_MS = 20_000;

const NO_NAMES: StateNames = { responses: null, keys: null };
