import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * Sends bytes unchanged and returns everything received until the server closes the connection. Rejects if nothing is received for 120 s.
 */
export function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
    socket.setTimeout(120_000, () =>
      socket.destroy(new Error(`Nothing more in 120 s; received: ${received}`)),
    );
    socket.on('close', (failed) => (failed ? undefined : resolve(received)));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server may reset the connection after its response if it does not read the rest of the request.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(received);
      else reject(error);
    });
  });
}

/** The status and the parsed body of the first response in raw text. */
export function parseRaw(text: string): { status: number; body: unknown; head: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]),
    body: JSON.parse(rest.join('\r\n\r\n')) as unknown,
    head,
  };
}

/** Opens a connection on which bytes are sent unchanged. Any error closes it. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Opens a connection that is closed when the test ends, and collects everything that it receives. */
export function listening(url: string): {
  readonly socket: Socket;
  readonly received: () => string;
  readonly closed: Promise<unknown>;
} {
  let text = '';
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  // A reset is visible in the received text.
  socket.on('data', (piece: string) => (text += piece)).on('error', () => undefined);
  return { socket, received: () => text, closed: once(socket, 'close') };
}

/** Everything that a socket receives until it closes. */
export async function receivedBy(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  await new Promise((resolve) => {
    socket.once('close', resolve);
  });
  return text;
}

/** The statuses of all responses in raw text. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
