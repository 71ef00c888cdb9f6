import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { checkReading } from './slow-readers.js';

/** Far more than the system buffers for a client that does not read. */
const PIECE = Buffer.alloc(100_000_000);

it('a client that reads one large piece slowly is served, until it reads no more of it', async () => {
  const server = createServer().listen(0);
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect((server.address() as AddressInfo).port);
  const [socket] = await accepted;
  onTestFinished(() => void [server.close(), client.destroy(), socket.destroy()]);
  const response = { writableEnded: false } as ServerResponse;
  let now = 0;
  let reading: ReturnType<typeof checkReading>;
  const check = (): boolean => {
    reading = checkReading(socket, response, reading, (now += 2_000), 1_000);
    return socket.destroyed;
  };
  socket.write(PIECE);
  check();
  await new Promise<void>((resolve) => {
    let received = 0;
    client.on('data', ({ length }) => {
      if (Math.floor((received += length) / 1e7) === Math.floor((received - length) / 1e7)) return;
      if (check() || received > 3e7) resolve(void client.pause());
    });
  });
  expect([socket.destroyed, socket.writableLength]).toEqual([false, PIECE.length]);
  await expect.poll(check).toBe(true);
});
