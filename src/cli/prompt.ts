import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { InvalidArgumentError } from 'commander';

/** Maximum bytes of a line with a key or a URL. */
const MOST_BYTES = 8_192;

/** A person ended the command at a question, with Ctrl-C. */
export class Interrupted extends Error {}

/** Asks a question and resolves to the typed line; undefined when the input ended. Throws Interrupted at Ctrl-C. */
export type Prompt = (question: string, how?: 'shown' | 'hidden') => Promise<string | undefined>;

/**
 * A prompt on a terminal: questions are written to `output`, as standard error, so that standard output is the result alone. What is
 * typed hidden has no echo.
 */
export function terminalPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  return (question, how = 'shown') =>
    new Promise((resolve, reject) => {
      const echo =
        how === 'shown' ? output : new Writable({ write: (_chunk, _encoding, written) => written() });
      const lines = createInterface({ input, output: echo, terminal: true, historySize: 0, prompt: '' });
      // Only now that the terminal's echo is off: the reply may arrive immediately.
      output.write(question);
      let answer: string | undefined;
      let isInterrupted = false;
      lines
        .once('line', (line) => {
          answer = line;
          lines.close();
        })
        .once('SIGINT', () => {
          isInterrupted = true;
          lines.close();
        })
        .once('close', () => {
          if (how === 'hidden' || answer === undefined) output.write('\n');
          if (isInterrupted) reject(new Interrupted());
          else resolve(answer);
        });
    });
}

/** Checks that a text is one line with a secret. Throws InvalidArgumentError if it is not. */
export function secretLine(text: string | undefined, title: string): string {
  const line = (text ?? '').trim();
  if (line === '') throw new InvalidArgumentError(`${title}: Standard input is empty. Give one line.`);
  if (/[\r\n]/.test(line))
    throw new InvalidArgumentError(`${title}: Standard input has several lines. Give one.`);
  if (Buffer.byteLength(line) > MOST_BYTES) throw tooLong(title);
  return line;
}

/** Reads an input that should be one line, and no more than the longest such line. Throws InvalidArgumentError. */
export async function readSecret(input: AsyncIterable<Buffer | string>, title: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > MOST_BYTES) throw tooLong(title);
    chunks.push(part);
  }
  return secretLine(Buffer.concat(chunks).toString(), title);
}

function tooLong(title: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `${title}: Standard input is longer than ${MOST_BYTES} bytes. Give one line, not a file.`,
  );
}
