/** Longest wait for the connection, in milliseconds. */
const WAIT_LIMIT_MS = 10_000;

/**
 * Hands the one SQLite connection to one owner at a time, first come, first served. TypeORM would let
 * transactions that overlap in time share it, so that one's rollback undoes the other's acknowledged write.
 */
export class ConnectionTurns {
  private last: Promise<void> = Promise.resolve();

  /**
   * Waits for the connection and answers the function that gives it back. Throws after 10 s: the likely
   * cause is a transaction that awaits a query outside its own manager.
   */
  async take(): Promise<() => void> {
    const before = this.last;
    let giveBack!: () => void;
    this.last = new Promise<void>((resolve) => (giveBack = resolve));
    try {
      await within(WAIT_LIMIT_MS, before);
    } catch (error) {
      // Whoever waits behind must still wait for the owner in front.
      void before.then(giveBack);
      throw error;
    }
    return giveBack;
  }
}

async function within(limitMs: number, turn: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new Error(
          'Waited 10 s for the SQLite connection. Inside dataSource.transaction(), use only the manager it hands you.',
        ),
      );
    }, limitMs);
  });
  try {
    await Promise.race([turn, limit]);
  } finally {
    clearTimeout(timer);
  }
}
