/** Prefix of all keys of the service. */
export const REDIS_PREFIX = 'petstore:quota:';

/**
 * Names of all keys in Redis. All begin with the prefix, so that several services can share one Redis. On a Cluster they hold the
 * subject in braces: what is in braces decides the slot, and all that one decision needs must lie in one.
 */
export class RedisKeys {
  constructor(
    private readonly prefix: string,
    readonly isCluster = false,
  ) {}

  /** The count of one window of a subject, by its key, its length in ms, and its number since the Unix epoch. */
  counter(subject: string, key: string, lengthMs: number, number: number): string {
    return this.name(`:${subject}`, `${key}:${lengthMs}:${number}`);
  }

  /** Strikes and ban of one API key. */
  strikes(subject: string, keyId: string): string {
    return this.name(`:${subject}`, `${subject}:key:${keyId}`);
  }

  /** The heartbeats of the instances. */
  beats(): string {
    return this.name('shared', 'beats');
  }

  /** The heartbeats of earlier builds, with which this build cannot share counts. */
  beatsOfOlderBuilds(): string {
    return this.name('shared', 'instances');
  }

  /** A random name of what is in this Redis, by which instances notice that others use another. */
  data(): string {
    return this.name('shared', 'data');
  }

  /** A subject is tagged with a colon before it: where braces are empty, each name would have a separate slot. */
  private name(tag: string, rest: string): string {
    return this.isCluster ? `${this.prefix}{${tag}}:${rest}` : this.prefix + rest;
  }
}
