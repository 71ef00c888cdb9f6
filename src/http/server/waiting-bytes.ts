import type { Socket } from 'node:net';
import { TransientMap } from '../../core/transient-map.js';
import { addressSubject } from '../../throttling/quota-policy.js';

/** Maximum memory of all connections together for waiting requests, in bytes. */
const MAX_BYTES = 32 * 1_024 * 1_024;

/** The connections of an address that hold memory, with the bytes of each. */
interface Holder {
  readonly id: string;
  bytes: number;
  readonly held: TransientMap<Socket, number>;
}

/**
 * Counts the bytes read of requests that wait for the previous response. Beyond the maximum, connections of the address that holds most are
 * closed, the largest first, so that other clients keep theirs.
 */
export class WaitingBytes {
  private total = 0;
  private readonly holders = new TransientMap<string, Holder>();
  private readonly bySocket = new TransientMap<Socket, Holder>();

  /** Sets the bytes held by a connection that held none before. */
  add(socket: Socket, bytes: number): void {
    if (socket.destroyed) return;
    const { id } = addressSubject(socket.remoteAddress ?? '');
    const holder = this.holders.get(id) ?? { id, bytes: 0, held: new TransientMap() };
    this.holders.set(id, holder);
    this.bySocket.set(socket, holder);
    holder.held.set(socket, bytes);
    holder.bytes += bytes;
    this.total += bytes;
    while (this.total > MAX_BYTES) this.closeLargest();
  }

  /** Removes a connection, which no longer holds anything. */
  delete(socket: Socket): void {
    const holder = this.bySocket.get(socket);
    if (!holder) return;
    const bytes = holder.held.get(socket) ?? 0;
    this.bySocket.delete(socket);
    holder.held.delete(socket);
    holder.bytes -= bytes;
    this.total -= bytes;
    if (holder.held.size === 0) this.holders.delete(holder.id);
  }

  private closeLargest(): void {
    const [, holder] = largest(this.holders.all(), ({ bytes }) => bytes);
    const [socket] = largest(holder.held.all(), (bytes) => bytes);
    this.delete(socket);
    socket.destroy();
  }
}

function largest<Key, Value>(
  entries: readonly [Key, Value][],
  bytesOf: (value: Value) => number,
): [Key, Value] {
  return entries.reduce((max, entry) => (bytesOf(entry[1]) > bytesOf(max[1]) ? entry : max));
}
