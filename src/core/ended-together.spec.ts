import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { type RequestListener, createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endTogether } from './ended-together.js';

const GET = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

/** Sends requests that arrive in one piece, so that all are handled in one turn of the event loop; answers what came back. */
async function exchange(listener: RequestListener, requests: string): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let answers = '';
  socket.on('data', (chunk) => {
    answers += String(chunk);
  });
  socket.write(requests);
  await once(socket, 'close');
  return answers;
}

describe('responses that are ended together', () => {
  it('are sent once all requests are handled that had arrived, and count as sent before', async () => {
    const told: string[] = [];
    await exchange(
      (request, response) => {
        response.once('finish', () => told.push(`${request.url} is sent`));
        endTogether(response, 'x');
        told.push(
          `${request.url} is handled: ${response.headersSent ? 'sent' : 'unsent'}, ${response.writableEnded ? 'ended' : 'not ended'}`,
        );
      },
      GET('/1') + GET('/2', 'Connection: close\r\n'),
    );
    expect(told).toEqual([
      '/1 is handled: sent, not ended',
      '/2 is handled: sent, not ended',
      '/1 is sent',
      '/2 is sent',
    ]);
  });

  it.each([
    { name: 'a body', status: 200, body: '{"name":"Žofie"}', headers: { 'Content-Length': '17' } },
    { name: 'a refusal', status: 429, body: '{}', headers: { 'Content-Length': '2', 'Retry-After': '3' } },
    { name: 'a 304', status: 304, body: undefined, headers: { ETag: '"x"' } },
  ])('are what they are when each is ended by itself: $name', async ({ status, body, headers }) => {
    const answered = async (end: RequestListener) =>
      (
        await exchange(
          (request, response) => {
            response.statusCode = status;
            for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
            end(request, response);
          },
          GET('/', 'Connection: close\r\n'),
        )
      ).replace(/Date: .*/, '');
    const together = await answered((_request, response) => endTogether(response, body));
    expect(together).toBe(await answered((_request, response) => response.end(body)));
    expect(together).toContain(`HTTP/1.1 ${status} `);
  });

  it('keep each the context of its own request', async () => {
    const requestOf = new AsyncLocalStorage<string>();
    const told: (string | undefined)[] = [];
    await exchange(
      (request, response) =>
        requestOf.run(String(request.url), () => {
          response.once('finish', () => told.push(requestOf.getStore()));
          endTogether(response, 'x');
        }),
      GET('/1') + GET('/2', 'Connection: close\r\n'),
    );
    expect(told).toEqual(['/1', '/2']);
  });

  it('throw at once what is wrong with their head', async () => {
    let thrown: unknown;
    await exchange(
      (_request, response) => {
        response.statusCode = 99_999;
        try {
          endTogether(response, 'x');
        } catch (error) {
          thrown = error;
          response.statusCode = 500;
          response.end();
        }
      },
      GET('/', 'Connection: close\r\n'),
    );
    expect(thrown).toMatchObject({ code: 'ERR_HTTP_INVALID_STATUS_CODE' });
  });
});
