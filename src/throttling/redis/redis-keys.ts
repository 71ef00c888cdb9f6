/** Prefix of all keys of the service. */
export const REDIS_PREFIX = 'petstore:quota:';

/** Names of all keys in Redis. All begin with the prefix, so that several services can share one Redis. */
export class RedisKeys {
  constructor(private readonly prefix: string) {}

  /** The count of one window, by its key, its length in ms, and its number since the Unix epoch. */
  counter(key: string, lengthMs: number, number: number): string {
    return `${this.prefix}${key}:${lengthMs}:${number}`;
  }

  /** Strikes and ban of one API key. */
  state(subject: string, keyId: string): string {
    return `${this.prefix}${subject}:key:${keyId}`;
  }

  /** The heartbeats of the instances. */
  instances(): string {
    return `${this.prefix}instances`;
  }

  /** Exists while the batch with this id must not be applied again. */
  handedOver(id: string): string {
    return `${this.prefix}handed-over:${id}`;
  }

  /** The names of the states of what instances cache (SharedDataVersion). */
  states(): string {
    return `${this.prefix}states`;
  }

  /** The instances with a writer under way that changes this kind of what is cached. */
  writers(kind: string): string {
    return `${this.prefix}writers:${kind}`;
  }
}
