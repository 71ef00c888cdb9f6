import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { InvalidArgumentError } from 'commander';

/** Maximum bytes of a line with a key or a URL. */
const MAX_BYTES = 8_192;

/** A person ended the command at a question, with Ctrl-C. */
export class Interrupted extends Error {}

/** Asks a question and resolves to the typed line; undefined when the input ended. Throws Interrupted at Ctrl-C. */
export type Prompt = (question: string, how?: 'shown' | 'hidden') => Promise<string | undefined>;

/**
 * A prompt on a terminal: questions are written to `output`, as standard error, so that standard output is the result alone. What is
 * typed hidden has no echo.
 */
export function terminalPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  return async (question, how = 'shown') => {
    const silent = new Writable({ write: (_chunk, _encoding, written) => written() });
    const echo = how === 'shown' ? output : silent;
    const lines = createInterface({ input, output: echo, terminal: true, historySize: 0, prompt: '' });
    // Only now that the terminal's echo is off: the reply may arrive immediately.
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

/** Checks that a text is one line with a secret. Throws InvalidArgumentError if it is not. */
export function secretLine(text: string | undefined, title: string): string {
  const line = (text ?? '').trim();
  const fault = (reason: string) => new InvalidArgumentError(`${title}: Standard input ${reason}`);
  if (line === '') throw fault('is empty. Pass one line.');
  if (Buffer.byteLength(line) > MAX_BYTES)
    throw fault(`is longer than ${MAX_BYTES} bytes. Pass one line, not a file.`);
  if (/[\r\n]/.test(line)) throw fault('has several lines. Pass one line.');
  return line;
}

/** Reads an input that should be one line, and not much more than the longest such line. Throws InvalidArgumentError. */
export async function readSecret(input: AsyncIterable<Buffer | string>, title: string): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > MAX_BYTES) break;
  }
  return secretLine(text, title);
}
