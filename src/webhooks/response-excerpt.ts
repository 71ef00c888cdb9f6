import type { IncomingMessage } from 'node:http';

/** How long a response's body is read, in milliseconds, so that the connection can be reused; then it is closed. */
const READ_MS = 1_000;
/** Maximum bytes of a response that are stored. */
const MAX_BYTES = 500;
/** What could break a line, control a terminal or reverse a text, and NUL, which PostgreSQL refuses. Line feeds stay. */
const CONTROL_CHARACTERS = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * The first bytes of a response's body as text, with U+FFFD for each harmful character; never rejects. The rest of the body is read,
 * as far as the bounds of its connection let it come, and discarded.
 */
export function excerptOf(response: IncomingMessage): Promise<string> {
  const timer = setTimeout(() => response.destroy(), READ_MS).unref();
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    const settle = (): void => resolve(sanitize(Buffer.concat(chunks)));
    response
      .on('data', (chunk: Buffer) => {
        if (length >= MAX_BYTES) return;
        chunks.push(chunk);
        length += chunk.length;
        if (length >= MAX_BYTES) settle();
      })
      // Closed by the receiver or here.
      .on('error', () => undefined)
      .on('end', settle)
      .on('close', () => {
        clearTimeout(timer);
        settle();
      });
  });
}

/** A character that is cut at the end is left out. */
function sanitize(body: Buffer): string {
  return new TextDecoder()
    .decode(body.subarray(0, MAX_BYTES), { stream: true })
    .replaceAll(CONTROL_CHARACTERS, '\uFFFD');
}
