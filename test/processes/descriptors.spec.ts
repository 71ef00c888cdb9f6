import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { folderOfTest, serviceOfTest } from '../support/service-process.js';

it('a service without a free file descriptor says so once, and once that some are free again', async () => {
  const service = await serviceOfTest(await folderOfTest());
  const { pid, url } = service;
  // The probes of the service itself take one for a moment.
  const limit = readdirSync(`/proc/${pid}/fd`).length + 5;
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:${limit + 100}`]);
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  const messages = () =>
    service.lines.filter(({ context }) => context === 'Descriptors').map(({ msg }) => msg);
  // Clients that are closed connect again, as real ones do: a file that was open when the first ones were closed leaves a descriptor free.
  await expect
    .poll(
      () => {
        for (let more = 0; more < 30; more += 1)
          sockets.push(connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined));
        return messages();
      },
      { interval: 100 },
    )
    .toEqual([expect.stringMatching(/^No file descriptor is free \(EMFILE\): new connections are closed/)]);
  for (const socket of sockets) socket.destroy();
  await expect.poll(messages).toHaveLength(2);
  expect(messages()[1]).toMatch(/^File descriptors are free again, after \d+ s\.$/);
  expect((await service.request('GET', '/v1/pets')).status).toBe(200);
});
