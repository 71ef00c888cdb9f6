import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A network connection between a service and its own server, which can fail in ways that the test selects. */
export class NetworkProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private isSwallowing = false;
  /** Replaces each chunk that the server sends. */
  response: string | undefined;

  private constructor(
    private readonly server: Server,
    /** The local port to which new connections lead. Existing connections are not affected. */
    public target: number,
  ) {
    server.on('connection', (near) => this.join(near));
  }

  /** Starts a proxy to this local port. Close it when done. */
  static async to(target: number): Promise<NetworkProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new NetworkProxy(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Drops everything from now on: connections stay open and new ones are accepted, but no data arrives. */
  set swallows(swallows: boolean) {
    this.isSwallowing = swallows;
    for (const [near, far] of this.pairs)
      for (const socket of [near, far])
        if (swallows) socket.pause();
        else socket.resume();
  }

  /** Drops all data on existing connections, like a firewall that has lost its state. New connections work. */
  forget(): void {
    for (const [near, far] of this.pairs) for (const socket of [near, far]) socket.pause();
  }

  /** Resets all connections, like a firewall that has lost its state. */
  cut(): void {
    for (const [near, far] of this.pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(near: Socket): void {
    const far = connect(this.target, '127.0.0.1');
    const pair = [near, far] as const;
    this.pairs.add(pair);
    for (const [from, to] of [pair, [far, near] as const]) {
      from.on('data', (chunk) => to.write((from === far ? this.response : undefined) ?? chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        this.pairs.delete(pair);
      });
      if (this.isSwallowing) from.pause();
    }
  }
}
