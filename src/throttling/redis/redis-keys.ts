/** Begins every key of the service. */
export const REDIS_PREFIX = 'petstore:quota:';

/** Names of everything that is kept in Redis; all begin with the prefix, so that several services can share one. */
export class RedisKeys {
  constructor(private readonly prefix: string) {}

  /** The count of one window: what counts together, its length in ms, and how many of that length came before it. */
  counter(key: string, lengthMs: number, number: number): string {
    return `${this.prefix}${key}:${lengthMs}:${number}`;
  }

  /** Strikes and ban of one API key. */
  state(subject: string, keyId: string): string {
    return `${this.prefix}${subject}:key:${keyId}`;
  }

  /** The instances that count together. */
  instances(): string {
    return `${this.prefix}instances`;
  }

  /** Stands while what was handed over under this id must not be added again. */
  handedOver(id: string): string {
    return `${this.prefix}handed-over:${id}`;
  }
}
