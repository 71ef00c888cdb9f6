/** So many retries may follow one another whatever the number of requests. */
export const RETRIES_AT_ONCE = 10;
/** Every request adds this much of a retry. */
export const RETRIES_PER_REQUEST = 0.2;

/**
 * Bounds the retries of a whole client, so that a service in trouble is not asked much more than one that is well: some retries at
 * once, and in the long run a share of the requests.
 */
export class RetryBudget {
  private left = RETRIES_AT_ONCE;

  /** Notes a new request. */
  noteRequest(): void {
    this.left = Math.min(RETRIES_AT_ONCE, this.left + RETRIES_PER_REQUEST);
  }

  /** Takes a retry; false when none is left. */
  take(): boolean {
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}
