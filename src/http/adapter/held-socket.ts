import type { Socket } from 'node:net';

/** Stops reading from a connection; Node would resume its socket with every message, so its `resume()` does nothing until then. */
export function hold(socket: Socket): void {
  socket.resume = () => socket;
  socket.pause();
}

/** Reads from a connection again. */
export function release(socket: Socket): void {
  // Removes the replacement from the socket; then `resume()` is again the method of the socket's class.
  if (Reflect.deleteProperty(socket, 'resume')) socket.resume();
}
