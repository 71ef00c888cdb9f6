import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { InvalidArgumentError } from 'commander';

/** Maximum length of a line with a key or URL, in bytes. */
const MAX_BYTES = 8_192;

/** Thrown when the person presses Ctrl-C at a prompt. */
export class Interrupted extends Error {}

/** Asks a question and resolves to the typed line; undefined if the input has ended. Throws Interrupted on Ctrl-C. */
export type Prompt = (question: string, how?: 'shown' | 'hidden') => Promise<string | undefined>;

/**
 * A prompt on a terminal. Questions go to `output`, which is standard error, so that standard output contains only the result. Hidden input
 * is not echoed.
 */
export function terminalPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  return async (question, how = 'shown') => {
    const silent = new Writable({ write: (_chunk, _encoding, written) => written() });
    const echo = how === 'shown' ? output : silent;
    const lines = createInterface({ input, output: echo, terminal: true, historySize: 0, prompt: '' });
    // Written only after the echo is off, because the reply may arrive immediately.
    output.write(question);
    let isInterrupted = false;
    lines.once('SIGINT', () => {
      isInterrupted = true;
      lines.close();
    });
    const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [answer?: string];
    lines.close();
    if (how === 'hidden' || answer === undefined) output.write('\n');
    if (isInterrupted) throw new Interrupted();
    return answer;
  };
}

/** Checks that a secret is a single line. Throws InvalidArgumentError if it is not. */
export function secretLine(text: string | undefined, title: string): string {
  const line = (text ?? '').trim();
  const error = (reason: string) => new InvalidArgumentError(`${title}: Standard input ${reason}`);
  if (line === '') throw error('is empty. Pass one line.');
  if (Buffer.byteLength(line) > MAX_BYTES)
    throw error(`is longer than ${MAX_BYTES} bytes. Pass one line, not a file.`);
  if (/[\r\n]/.test(line)) throw error('has several lines. Pass one line.');
  return line;
}

/** Reads an input that should be one line, up to slightly more than the maximum length. Throws InvalidArgumentError. */
export async function readSecret(input: AsyncIterable<Buffer | string>, title: string): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > MAX_BYTES) break;
  }
  return secretLine(text, title);
}
