import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { promises as dns } from 'node:dns';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { HostNames } from '../../src/webhooks/host-names.js';
import { NameServer } from '../support/name-server.js';
import { opened, receive } from '../support/webhook-service.js';

const folder = await mkdtemp(join(tmpdir(), 'names-'));
const files = { hosts: join(folder, 'hosts'), resolver: join(folder, 'resolv.conf') };
const LOOPBACK = ['127.0.0.1'];
const server = await NameServer.start((name) => {
  if (name.startsWith('silent')) return 'silent';
  if (name === 'failing.default') return 'servfail';
  if (name === 'both.test' || name.endsWith('.svc.cluster.test')) return LOOPBACK;
  if (name === 'hidden.test') return ['8.8.8.8'];
  return name === 'alias.test' ? { alias: 'both.test' } : 'nxdomain';
});

/** Resolves names by the files and the name server of this suite; the system's resolver knows what `known` says, once it does. */
class Names extends HostNames {
  protected override readonly files = files;
  known: Promise<string[]> = Promise.resolve([]);
  readonly bySystemAtOnce: number[] = [];
  private running = 0;

  protected override resolver(): dns.Resolver {
    const resolver = super.resolver();
    resolver.setServers([server.address]);
    return resolver;
  }

  protected override async bySystem(): Promise<string[]> {
    this.running += 1;
    this.bySystemAtOnce.push(this.running);
    const found = await this.known;
    this.running -= 1;
    return found;
  }
}

const names = new Names();
const { service, post, deliver, endpointAt, deliveries, clear } = await opened({
  override: (testing) => testing.overrideProvider(HostNames).useFactory({ factory: () => names }),
});
afterAll(async () => {
  await service.close();
  server.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  Object.assign(names, { known: Promise.resolve([]), bySystemAtOnce: [] });
  await writeFile(files.hosts, '');
  await writeFile(files.resolver, 'nameserver 192.0.2.1\n');
  await clear();
});

/** Has hosts as receivers on this machine, sends a message to each, and returns those to which it was delivered. */
async function reachedOf(...hosts: string[]): Promise<string[]> {
  const receiver = await receive();
  for (const host of hosts) await endpointAt(`http://${host}:${receiver.port}/${host}`);
  await post('X');
  await deliver();
  return receiver.received.map(({ path }) => path.slice(1)).toSorted();
}

it('a host of the operator’s network is found in the hosts file, without any name server', async () => {
  const text = [
    '# 127.0.0.1 silent-comment.test',
    '127.0.0.1\tsilent-a.test  Silent-B.test # silent-comment.test\r',
    '::1 silent-a.test',
    'nonsense silent-comment.test',
    '8.8.8.8 hidden.test both.test',
  ].join('\n');
  await writeFile(files.hosts, text);
  const hosts = ['silent-a.test', 'silent-b.test', 'both.test', 'localhost', 'shop.localhost'];
  expect(await reachedOf('hidden.test', ...hosts)).toEqual(hosts.toSorted());
  expect(hosts.map((host) => server.queriesFor(host))).toEqual([0, 0, 1, 0, 0]);
  expect(names.bySystemAtOnce).toEqual([]);
});

it('a change of the hosts file applies to the next attempt', async () => {
  expect(await reachedOf('added.test')).toEqual([]);
  await writeFile(files.hosts, '127.0.0.1 added.test');
  await clear();
  expect(await reachedOf('added.test')).toEqual(['added.test']);
  await writeFile(files.hosts, '127.0.0.1 other.test');
  await clear();
  expect(await reachedOf('added.test')).toEqual([]);
});

it('a name is completed by the search domains, once the name servers do not know it as it is', async () => {
  await writeFile(
    files.resolver,
    'domain unused.test\nsearch default.svc.cluster.test svc.cluster.test. cluster.test\noptions ndots:5\n',
  );
  const hosts = ['receiver', 'receiver.default', 'receiver.default.svc', 'both.test', 'failing.default'];
  expect(await reachedOf(...hosts, 'hidden.test')).toEqual(hosts.toSorted());
  expect(server.queriesFor('both.test.svc.cluster.test')).toBe(0);
  expect(names.bySystemAtOnce).toEqual([]);
});

it('names whose servers do not respond neither occupy the system’s resolver nor delay messages to others', async () => {
  const receiver = await receive();
  const silent = Array.from({ length: 20 }, (_, at) => `silent-${at}.test`);
  for (const host of silent) await endpointAt(`http://${host}:${receiver.port}/`);
  const other = await service.issueKey({ plan: 'free' });
  const { clientId } = other;
  await endpointAt(`http://alias.test:${receiver.port}/other`, { clientId });
  await post('X');
  const all = deliver();
  await expect.poll(() => receiver.received.map(({ path }) => path)).toEqual(['/other']);
  // The receiver has the message before its delivery is stored.
  const waiting = async () => (await deliveries()).filter(({ attempts }) => attempts === 0).length;
  await expect.poll(waiting).toBe(20);
  await all;
  expect(silent.map((host) => server.queriesFor(host) > 0)).not.toContain(false);
  expect(names.bySystemAtOnce).toEqual([]);
});

it('what only the system’s resolver knows is looked up by it, one name at a time', async () => {
  const receiver = await receive();
  let respond: (addresses: string[]) => void = () => undefined;
  names.known = new Promise((resolve) => (respond = resolve));
  for (let at = 0; at < 20; at += 1) await endpointAt(`http://printer-${at}.local:${receiver.port}/`);
  await endpointAt(`http://both.test:${receiver.port}/both`);
  await post('X');
  const all = deliver();
  await expect.poll(() => receiver.received.map(({ path }) => path)).toEqual(['/both']);
  await expect.poll(() => names.bySystemAtOnce).toEqual([1]);
  respond(LOOPBACK);
  await all;
  expect(receiver.received).toHaveLength(21);
  expect(new Set(names.bySystemAtOnce)).toEqual(new Set([1]));
});
