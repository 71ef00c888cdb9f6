import { onTestFinished } from 'vitest';

/**
 * So many clients that do something over and over, each one turn after the other, until the end of the test. What is returned ends them
 * earlier: it waits for the turns under way, and rejects with what one of them threw.
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
