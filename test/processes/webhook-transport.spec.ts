import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Client } from '../../src/auth/clients/client.entity.js';
import { openDataSource } from '../../src/database/data-source.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { type WantedCertificate, certificateFor, makeCertificates } from '../support/certificates.js';
import { NameServer, type Naming } from '../support/name-server.js';
import { ServiceProcess, emptyFolder } from '../support/service-process.js';
import { addEndpoint } from '../support/webhook-receiver.js';
import { receive } from '../support/webhook-service.js';

/** Why an attempt to a host was not made, whether its name does not exist, has no address, or has one that is not public. */
const NO_ADDRESS =
  'Messages cannot be sent to this host, because its name cannot be resolved or its address is not public.';

interface Started {
  readonly endpointAt: (url: string) => Promise<string>;
  readonly post: (name: string) => Promise<void>;
  /** Numbers of look-ups that the system's resolver had at the same time. */
  readonly lookupsBySystem: () => number[];
  /** How the latest delivery of an endpoint ended; undefined while it was not tried. */
  readonly outcome: (endpointId: string) => Promise<string | undefined>;
}

/** Another address of this machine, which stands for a public one. */
const PUBLIC = '127.0.0.2';

/** Which addresses names have; all others have the public one. */
const NAMES: Readonly<Record<string, ReturnType<Naming>>> = {
  'private.test': ['127.0.0.1'],
  'several.test': ['127.0.0.1', '10.0.0.1', '::1'],
  'alias.test': { alias: 'private.test' },
  'aliases.test': { alias: 'alias.test' },
  'mapped.test': ['::ffff:127.0.0.1'],
  'loopback6.test': ['::1'],
  'nobody.test': 'nxdomain',
  'empty.test': [],
  'failing.test': 'servfail',
  'refusing.test': 'refused',
  'silent.test': 'silent',
};

let folder: string;
let names: NameServer;
let service: Started;
const closing: (() => Promise<unknown>)[] = [];

/** The service as a process that uses the name server of this suite. */
beforeAll(async () => {
  folder = await makeCertificates();
  const { path, remove } = await emptyFolder();
  names = await NameServer.start((name, queries) => {
    if (name === 'mixed.test') return ['127.0.0.1', PUBLIC, '::1', '::ffff:127.0.0.1'];
    if (name === 'rebound.test') return queries === 0 ? [PUBLIC] : ['127.0.0.1'];
    return NAMES[name] ?? [PUBLIC];
  });
  const started = await ServiceProcess.start(path, {
    ...names.environment,
    WEBHOOK_ALLOWED_NETWORKS: PUBLIC,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
  });
  const dataSource = await openDataSource({ databaseUrl: `sqlite:${join(path, 'data/petstore.sqlite')}` });
  closing.push(
    () => dataSource.destroy(),
    () => started.stop('SIGKILL'),
    async () => names.stop(),
    remove,
    () => rm(folder, { recursive: true, force: true }),
  );
  const { manager } = dataSource;
  const { id: clientId } = await manager.findOneByOrFail(Client, { name: 'Demo' });
  service = {
    endpointAt: async (url) => (await addEndpoint(manager, { clientId, url })).id,
    post: async (name) => {
      const { status } = await started.request('POST', '/v1/pets', { json: { name, categoryId: 1 } });
      expect(status).toBe(201);
    },
    lookupsBySystem: () =>
      [...started.output.matchAll(/look-ups by the system: (\d+)/g)].map(([, running]) => Number(running)),
    outcome: async (endpointId) => {
      const order = { id: 'DESC' } as const;
      const [latest] = await manager.find(WebhookDelivery, { where: { endpointId }, order, take: 1 });
      return latest && latest.attempts > 0 ? (latest.error ?? latest.state) : undefined;
    },
  };
});
afterAll(async () => {
  for (const close of closing) await close();
});

describe('the certificate of a receiver', () => {
  it('is refused with the reason; one of an authority of NODE_EXTRA_CA_CERTS is accepted', async () => {
    const cases: [name: string, certificate: WantedCertificate | undefined, outcome: string][] = [
      ['good.test', { by: 'authority', name: 'good.test' }, 'delivered'],
      [
        'expired.test',
        { by: 'authority', name: 'expired.test', days: -1 },
        'The certificate of the host has expired.',
      ],
      [
        'wrong.test',
        { by: 'authority', name: 'other.test' },
        'The certificate of the host is for another name.',
      ],
      ['own.test', { by: 'itself', name: 'own.test' }, 'The certificate of the host is self-signed.'],
      [
        'leaf.test',
        { by: 'another', name: 'leaf.test' },
        'The certificate of the host lacks an intermediate certificate, or is from an unknown authority.',
      ],
      [
        'chain.test',
        { by: 'another, in the chain', name: 'chain.test' },
        'The certificate of the host is from an unknown authority.',
      ],
      [
        'intermediate.test',
        { by: 'an intermediate of another', name: 'intermediate.test' },
        'The certificate of the host is from an unknown authority.',
      ],
      [
        'plain.test',
        undefined,
        'The host does not support TLS on this port, or supports no TLS version that the service accepts.',
      ],
    ];
    const endpoints: [string, string][] = [];
    for (const [name, certificate] of cases) {
      const tls = certificate && (await certificateFor(folder, certificate));
      const receiver = await receive(undefined, { host: PUBLIC, ...(tls ? { tls } : {}) });
      endpoints.push([name, await service.endpointAt(`https://${name}:${receiver.port}/`)]);
    }
    await service.post('X');
    for (const [at, [name, id]] of endpoints.entries()) {
      await expect.poll(() => service.outcome(id), { message: name }).toBeDefined();
      expect([name, await service.outcome(id)]).toEqual([name, cases[at]?.[2]]);
    }
  });

  it('cannot be agreed on again and again', async () => {
    let times = 0;
    const certificate = await certificateFor(folder, { by: 'authority', name: 'good.test' });
    const receiver = createServer({ ...certificate, maxVersion: 'TLSv1.2' }, (socket) => {
      const again = (error: Error | null): void => {
        times += 1;
        if (!error && !socket.destroyed)
          socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, again);
      };
      socket.on('error', () => undefined).once('data', () => again(null));
    }).listen(0, PUBLIC);
    onTestFinished(() => void receiver.close());
    await once(receiver, 'listening');
    const { port } = receiver.address() as AddressInfo;
    const id = await service.endpointAt(`https://good.test:${port}/`);
    await service.post('X');
    await expect.poll(() => service.outcome(id)).toBeDefined();
    expect(await service.outcome(id)).toBe(
      'The host sent more data than expected for a response to a message.',
    );
    expect(times).toBeGreaterThan(1);
    expect(times).toBeLessThan(1_000);
  });
});

describe('the name of a receiver', () => {
  it('that has no public address is not connected to, and the reason does not reveal whether it exists', async () => {
    const trap = await receive();
    const endpoints: [string, string][] = [];
    for (const name of Object.keys(NAMES))
      endpoints.push([name, await service.endpointAt(`https://${name}:${trap.port}/`)]);
    await service.post('X');
    for (const [name, id] of endpoints) {
      await expect.poll(() => service.outcome(id), { message: name }).toBeDefined();
      expect([name, await service.outcome(id)]).toEqual([name, NO_ADDRESS]);
    }
    // A look-up that is not answered occupies one of the threads that PostgreSQL's name needs as well.
    expect(new Set(service.lookupsBySystem())).toEqual(new Set([1]));
    expect(trap.connections).toBe(0);
  });

  it('is looked up once for an attempt and again for each, so that no address slips in between', async () => {
    const receiver = await receive(undefined, { host: PUBLIC });
    const trap = await receive(undefined, { port: receiver.port });
    const at = (name: string) => service.endpointAt(`http://${name}:${receiver.port}/${name}`);
    const [silent, mixed, rebound] = [
      await at('silent.test'),
      await at('mixed.test'),
      await at('rebound.test'),
    ];
    await service.post('A');
    for (const id of [mixed, rebound]) await expect.poll(() => service.outcome(id)).toBe('delivered');
    expect(names.queriesFor('rebound.test')).toBe(1);
    await service.post('B');
    await expect.poll(() => service.outcome(rebound)).toBe(NO_ADDRESS);
    await expect.poll(() => receiver.names.filter((name) => name === 'B')).toHaveLength(1);
    // The name server that does not answer has delayed none of them.
    expect(await service.outcome(silent)).toBeUndefined();
    expect(receiver.received.map(({ path, body }) => `${path} ${String(body.data.name)}`).toSorted()).toEqual(
      ['/mixed.test A', '/mixed.test B', '/rebound.test A'],
    );
    expect(trap.connections).toBe(0);
  });
});
