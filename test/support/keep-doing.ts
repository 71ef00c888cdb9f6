import { onTestFinished } from 'vitest';

/**
 * Runs the given number of clients until the end of the test. Each calls `turn` repeatedly, one call after another. The returned function
 * stops them earlier: it waits for the running calls, and rejects if one of the calls has failed.
 */
export function keepDoing(
  clients: number,
  turn: (client: number, at: number) => Promise<unknown>,
): () => Promise<void> {
  const over = new AbortController();
  const client = async (number: number) => {
    for (let at = 0; !over.signal.aborted; at += 1) await turn(number, at);
  };
  const all = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const end = async () => {
    over.abort();
    await all;
  };
  onTestFinished(() => over.abort());
  return end;
}
