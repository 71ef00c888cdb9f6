import type { OutgoingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The status line of an answer of HTTP/1.1, at the begin of what is written. */
const STATUS_LINE = /^HTTP\/1\.1 \d{3}[^\r\n]*\r\n/;

/**
 * Adds the header fields of a message to the answer of an upgrade: what is upgraded writes it to the socket itself, such as `ws`
 * its 101. They follow the status line that is written first; what does not begin with one is left as it is.
 */
export function addToUpgradeAnswer(socket: Socket, message: OutgoingMessage): void {
  const fields = Object.entries(message.getHeaders())
    .flatMap(([name, values]) => [values ?? []].flat().map((value) => `${name}: ${value}\r\n`))
    .join('');
  const replaced = (method: 'write' | 'end') =>
    function (...[chunk, ...others]: unknown[]): unknown {
      // Removes the replacements: from now on both are the methods of the socket's class.
      Reflect.deleteProperty(socket, 'write');
      Reflect.deleteProperty(socket, 'end');
      return Reflect.apply(socket[method], socket, [withFields(chunk, fields), ...others]);
    };
  Object.assign(socket, { write: replaced('write'), end: replaced('end') });
}

function withFields(chunk: unknown, fields: string): unknown {
  const head = Buffer.isBuffer(chunk) ? chunk.toString('latin1') : chunk;
  if (typeof head !== 'string') return chunk;
  const [line] = STATUS_LINE.exec(head) ?? [];
  if (line === undefined) return chunk;
  const answer = line + fields + head.slice(line.length);
  return Buffer.isBuffer(chunk) ? Buffer.from(answer, 'latin1') : answer;
}
