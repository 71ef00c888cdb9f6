import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** With this result of a callback, Node's parser pauses and can continue later (HPE_PAUSED of llhttp). */
const PAUSED = 21;
/** In a turn of the event loop up to this long, in milliseconds, hardly any bytes can arrive unnoticed. */
const SHORT_TURN_MS = 10;
/** How many turns to wait for a short one, because an overloaded service may have none. */
const MAX_TURNS = 50;

/** The used members of Node's parser for a connection. */
interface Parser {
  onIncoming: (request: IncomingMessage, shouldKeepAlive: boolean) => number;
  resume(): void;
}

function parserOf(socket: Socket): Parser | null | undefined {
  return (socket as { parser?: Parser | null }).parser;
}

export function isReadingPaused(socket: Socket): boolean {
  return Object.hasOwn(socket, 'resume');
}

/** Stops reading from a connection. Node would resume its socket with every message, so `resume()` is disabled until then. */
export function pauseReading(socket: Socket): void {
  if (isReadingPaused(socket)) return;
  socket.resume = () => socket;
  // The `resume` event of an earlier call may be emitted only after this, and Node would then read.
  socket.on('resume', pauseAgain);
  socket.pause();
}

export function resumeReading(socket: Socket): void {
  if (!isReadingPaused(socket)) return;
  // Removes the override, so that `resume()` is again the method of the class.
  Reflect.deleteProperty(socket, 'resume');
  socket.off('resume', pauseAgain).resume();
}

function pauseAgain(this: Socket): void {
  this.emit('pause');
}

/**
 * Makes Node's parser stop after the head of a request if `waits()` then returns true, because one read may have brought thousands more
 * requests. The bytes beyond the head are in the `clientError` that this causes (see `restOf()`).
 */
export function stopAfterHead(socket: Socket, waits: () => boolean): void {
  const parser = parserOf(socket);
  if (!parser) return;
  const { onIncoming } = parser;
  parser.onIncoming = (request, shouldKeepAlive) => {
    const result = onIncoming(request, shouldKeepAlive);
    return result === 0 && waits() ? PAUSED : result;
  };
}

/** The bytes beyond the head after which the parser has stopped; undefined for any other `clientError`. */
export function restOf(
  error: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number },
): Buffer | undefined {
  return error.code === 'HPE_PAUSED' ? error.rawPacket?.subarray(error.bytesParsed) : undefined;
}

/** Makes the parser continue with these bytes. */
export function resumeParsing(socket: Socket, rest: Buffer): void {
  parserOf(socket)?.resume();
  // Node's own listener passes it to the parser.
  socket.emit('data', rest);
}

/**
 * Waits until the event loop has read the data that has arrived on all connections. After a pause of the process or a long task, timers run
 * first, and would reset the connection of a request that arrived in time. Long turns are not trusted either.
 */
export async function afterReading(): Promise<void> {
  let startedAt: number;
  let turns = 0;
  do {
    startedAt = performance.now();
    // After a timer or another immediate, it runs after the next poll for input.
    await setImmediate();
    turns += 1;
  } while (performance.now() - startedAt > SHORT_TURN_MS && turns < MAX_TURNS);
}
