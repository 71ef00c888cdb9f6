/** Prefix of all keys of the service. */
export const REDIS_PREFIX = 'petstore:quota:';

/**
 * Names of all keys in Redis. They share a prefix, so that several services can share one Redis. On a Cluster, they contain the subject in
 * braces, which determines the slot, because all keys of one decision must be in the same slot.
 */
export class RedisKeys {
  constructor(
    private readonly prefix: string,
    readonly isCluster = false,
  ) {}

  /** The count of a subject's window, by the window's key, length in ms, and number since the Unix epoch. */
  counter(subject: string, key: string, lengthMs: number, number: number): string {
    return this.name(`:${subject}`, `${key}:${lengthMs}:${number}`);
  }

  /** Strikes and ban of an API key. */
  strikes(subject: string, keyId: string): string {
    return this.name(`:${subject}`, `${subject}:key:${keyId}`);
  }

  beats(): string {
    return this.name('shared', 'beats');
  }

  /** The heartbeats of earlier builds, which cannot share counts with this build. */
  beatsOfOlderBuilds(): string {
    return this.name('shared', 'instances');
  }

  /** The random name of the data in this Redis, by which instances detect that others use another Redis. */
  data(): string {
    return this.name('shared', 'data');
  }

  /** The colon before the subject keeps the braces from being empty, which would give each name a separate slot. */
  private name(tag: string, rest: string): string {
    return this.isCluster ? `${this.prefix}{${tag}}:${rest}` : this.prefix + rest;
  }
}
