import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in front of the service that removes a path prefix, as many do, and can truncate responses. */
export class PrefixProxy {
  /** Whether it closes the connection in the middle of each body, as if the network had failed. */
  cutsBodies = false;

  private readonly server = createServer((near, response) => this.pass(near, response));

  private constructor(
    private readonly target: string,
    private readonly prefix: string,
  ) {}

  /** Starts a proxy to this origin. Close it when done. */
  static async to(target: string, prefix: string): Promise<PrefixProxy> {
    const proxy = new PrefixProxy(target, prefix);
    proxy.server.listen(0, '127.0.0.1');
    await once(proxy.server, 'listening');
    return proxy;
  }

  /** Its origin, without the prefix. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private pass(near: IncomingMessage, response: ServerResponse): void {
    const path = near.url ?? '';
    if (!path.startsWith(`${this.prefix}/`)) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not here');
      return;
    }
    const { method, headers } = near;
    const far = httpRequest(
      this.target + path.slice(this.prefix.length),
      { ...(method === undefined ? {} : { method }), headers },
      (from) => {
        response.writeHead(from.statusCode ?? 502, from.headers);
        if (this.cutsBodies) {
          // The first part of the body is sent before the connection closes.
          response.write('[', () => response.destroy());
          return;
        }
        from.pipe(response);
      },
    );
    far.on('error', () => response.destroy());
    near.pipe(far);
  }
}
