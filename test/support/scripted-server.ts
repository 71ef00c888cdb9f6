import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** How the server responds to a request. The last function of a script also handles all requests that follow. */
export type Step = (response: ServerResponse, request: Arrived) => void;

/**
 * An HTTP server that responds according to a script, to simulate errors that the service does not have. It is stopped at the end of the
 * test.
 */
export async function scriptedServer(
  ...script: readonly Step[]
): Promise<{ readonly url: string; readonly arrived: readonly Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const step = script[Math.min(arrived.length, script.length - 1)];
      arrived.push({ method, url, headers, body });
      step?.(response, { method, url, headers, body });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived };
}

/** Sends a text as JSON. */
export const json =
  (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Step =>
  (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
  };

/** Sends an error as the service does. */
export const refusal = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  message = 'No.',
): Step => json(status, JSON.stringify({ code, message, status }), headers);
