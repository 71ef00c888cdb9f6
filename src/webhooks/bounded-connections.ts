import type { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type NetConnectOpts, type Socket, connect } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Maximum number of bytes that a receiver may send over one connection, including TLS and all responses, and maximum number of reads that
 * they may take.
 */
const MAX_BYTES = 65_536;
const MAX_READS = 128;
const CHUNK = 1_024;
/** Interval at which TLS bytes without data are counted, in milliseconds. */
const COUNT_MS = 100;

/** `code` of the error if a receiver sends more than a response needs. */
export const RESPONSE_TOO_LARGE = 'SENT_TOO_MUCH';

export function responseTooLarge(): Error {
  return Object.assign(new Error('The receiver sent too much data.'), { code: RESPONSE_TOO_LARGE });
}

/**
 * Makes an agent close each connection over which the receiver sends too much of anything, even between two requests. Node itself only
 * limits the size of response headers.
 */
export function bounded(agent: HttpAgent): HttpAgent {
  const create = agent.createConnection.bind(agent);
  const keepAlive = agent.keepSocketAlive.bind(agent);
  /** Connections that have used more than half of their limits, so that the rest may not suffice for a request. */
  const used = new WeakSet<Duplex>();
  agent.keepSocketAlive = (socket) => (used.has(socket) ? undefined : keepAlive(socket));
  agent.createConnection = (options, callback) => {
    // A TLS socket counts only decrypted bytes.
    const counted = connect(options as NetConnectOpts);
    const isTls = agent instanceof HttpsAgent;
    const socket = isTls
      ? (create(Object.assign({}, options, { socket: counted }), callback) as Socket)
      : counted;
    let reads = 0;
    const count = (): void => {
      const share = Math.max(counted.bytesRead / MAX_BYTES, reads / MAX_READS);
      if (share > 1) socket.destroy(responseTooLarge());
      else if (share > 0.5) used.add(socket);
    };
    const read = (): void => {
      // Once the request is aborted, the parser receives nothing more.
      while (!socket.destroyed && socket.read(Math.min(socket.readableLength, CHUNK) || undefined) !== null) {
        reads += 1;
        count();
      }
    };
    const timer = setInterval(count, COUNT_MS).unref();
    return socket.on('readable', read).on('close', () => clearInterval(timer));
  };
  return agent;
}
