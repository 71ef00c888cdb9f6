import type { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type NetConnectOpts, type Socket, connect } from 'node:net';
import type { Duplex } from 'node:stream';

/** Most bytes that a receiver may send over one connection, TLS and all responses together, and most reads that they may take. */
const MOST_BYTES = 65_536;
const MOST_READS = 128;
/** Most bytes of a read. */
const PIECE = 1_024;
/** How often bytes of TLS are counted that carry no data, in milliseconds. */
const COUNT_MS = 100;

/** `code` of the error of a request whose receiver sends more than an answer needs. */
export const SENT_TOO_MUCH = 'SENT_TOO_MUCH';

/** Makes that error. */
export function sentTooMuch(): Error {
  return Object.assign(new Error('The receiver sends too much.'), { code: SENT_TOO_MUCH });
}

/**
 * Has an agent close each connection over which the other end sends too much, whatever it is and also between two requests. Node
 * itself bounds only the head of a response.
 */
export function bounded(agent: HttpAgent): HttpAgent {
  const create = agent.createConnection.bind(agent);
  const keepAlive = agent.keepSocketAlive.bind(agent);
  /** Each request may need half of what a connection may bring. */
  const used = new WeakSet<Duplex>();
  agent.keepSocketAlive = (socket) => (used.has(socket) ? undefined : keepAlive(socket));
  agent.createConnection = (options, callback) => {
    // The socket of TLS counts data alone.
    const counted = connect(options as NetConnectOpts);
    const isTls = agent instanceof HttpsAgent;
    const socket = isTls
      ? (create(Object.assign({}, options, { socket: counted }), callback) as Socket)
      : counted;
    let reads = 0;
    const count = (): void => {
      const share = Math.max(counted.bytesRead / MOST_BYTES, reads / MOST_READS);
      if (share > 1) socket.destroy(sentTooMuch());
      else if (share > 0.5) used.add(socket);
    };
    const read = (): void => {
      // The parser gets no more of what arrived once the request is given up.
      while (!socket.destroyed && socket.read(Math.min(socket.readableLength, PIECE) || undefined) !== null) {
        reads += 1;
        count();
      }
    };
    const timer = setInterval(count, COUNT_MS).unref();
    return socket.on('readable', read).on('close', () => clearInterval(timer));
  };
  return agent;
}
