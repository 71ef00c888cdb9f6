import type { IncomingMessage } from 'node:http';

/** How long a response's body is read so that the connection can be reused, in milliseconds; then it is closed. */
const READ_MS = 1_000;
const MAX_BYTES = 500;
/** Characters that could break a line, control a terminal or reverse text, and NUL, which PostgreSQL refuses. Line feeds are allowed. */
const CONTROL_CHARACTERS = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * The start of a response's body as text, with U+FFFD for each harmful character; never rejects. The rest of the body is discarded, within
 * the limits of its connection.
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

/** A truncated character at the end is dropped. */
function sanitize(body: Buffer): string {
  return new TextDecoder()
    .decode(body.subarray(0, MAX_BYTES), { stream: true })
    .replaceAll(CONTROL_CHARACTERS, '\uFFFD');
}
