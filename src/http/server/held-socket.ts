import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** With this result of a callback, Node's parser stops where it is and can continue later (HPE_PAUSED of llhttp). */
const PAUSED = 21;
/** A turn of the event loop up to this long, in milliseconds, leaves hardly any time for bytes to arrive unnoticed. */
const SHORT_TURN_MS = 10;
/** How many turns are waited for a short one: an overloaded service may have none. */
const MAX_TURNS = 50;

/** What is used of Node's parser of a connection. */
interface Parser {
  onIncoming: (request: IncomingMessage, shouldKeepAlive: boolean) => number;
  resume(): void;
  /** Time since the first byte of the message that is being read, in milliseconds; 0 without one. */
  duration(): number;
}

function parserOf(socket: Socket): Parser | null | undefined {
  return (socket as { parser?: Parser | null }).parser;
}

/** Whether nothing is read from a connection. */
export function isHeld(socket: Socket): boolean {
  return Object.hasOwn(socket, 'resume');
}

/** Stops reading from a connection; Node would resume its socket with every message, so its `resume()` does nothing until then. */
export function hold(socket: Socket): void {
  if (isHeld(socket)) return;
  socket.resume = () => socket;
  // Of an earlier call, the event comes only now, and Node then reads.
  socket.on('resume', pauseAgain);
  socket.pause();
}

/** Reads from a connection again. */
export function release(socket: Socket): void {
  if (!isHeld(socket)) return;
  // Removes the replacement from the socket; then `resume()` is again the method of the socket's class.
  Reflect.deleteProperty(socket, 'resume');
  socket.off('resume', pauseAgain).resume();
}

function pauseAgain(this: Socket): void {
  this.emit('pause');
}

/**
 * Has Node's parser stop after the head of a request if `waits()` then says that it must wait: one read may have brought thousands
 * more. What was read beyond that head comes with the `clientError` that this causes (`restOf()`).
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

/** What was read beyond the head after which the parser has stopped; undefined for any other `clientError`. */
export function restOf(
  error: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number },
): Buffer | undefined {
  return error.code === 'HPE_PAUSED' ? error.rawPacket?.subarray(error.bytesParsed) : undefined;
}

/** Makes the parser continue with what was read before. */
export function resumeParsing(socket: Socket, rest: Buffer): void {
  parserOf(socket)?.resume();
  // Node's own listener passes it to the parser.
  socket.emit('data', rest);
}

/** Whether the beginning of a message has been read, but not its end. */
export function isReadingMessage(socket: Socket): boolean {
  return socket.bytesRead > 0 && (parserOf(socket)?.duration() ?? 0) > 0;
}

/**
 * Waits until the event loop has read what has arrived on all connections. After a pause of the process or a long task, timers run before
 * that: a request that arrived in time would find its connection closed, which resets it. Turns that take long are not trusted either.
 */
export async function afterReading(): Promise<void> {
  let startedAt: number;
  let turns = 0;
  do {
    startedAt = performance.now();
    // From a timer or another immediate, it runs after the next poll for input.
    await setImmediate();
    turns += 1;
  } while (performance.now() - startedAt > SHORT_TURN_MS && turns < MAX_TURNS);
}
