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
import { flood, receive } from '../support/webhook-service.js';

/** Why an attempt to a host was not made, whether its name does not exist, has no address, or has one that is not public. */
const NO_ADDRESS =
  'The host has no address that messages may be sent to: its name does not exist or cannot be looked up, or it is not public.';

/** The service as a process whose names a server of this test answers. */
async function start(naming: Naming, environment: Record<string, string> = {}) {
  const [{ path, remove }, names] = [await emptyFolder(), await NameServer.start(naming)];
  onTestFinished(remove);
  onTestFinished(() => names.stop());
  const service = await ServiceProcess.start(path, { ...names.environment, ...environment });
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const dataSource = await openDataSource({ databaseUrl: `sqlite:${join(path, 'data/petstore.sqlite')}` });
  onTestFinished(() => dataSource.destroy());
  const { manager } = dataSource;
  const { id: clientId } = await manager.findOneByOrFail(Client, { name: 'Demo' });
  const key = /pst_test_\w+/.exec(service.output)?.[0] ?? '';
  return {
    names,
    endpointAt: (url: string) => addEndpoint(manager, { clientId, url }),
    post: async (name: string) => {
      const { status } = await fetch(`${service.url}/v1/pets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, categoryId: 1 }),
      });
      expect(status).toBe(201);
    },
    /** How the latest delivery of an endpoint ended; undefined while it was not tried. */
    outcome: async (endpointId: string) => {
      const [latest] = await manager.find(WebhookDelivery, {
        where: { endpointId },
        order: { id: 'DESC' },
        take: 1,
      });
      return latest && latest.attempts > 0 ? (latest.error ?? latest.state) : undefined;
    },
  };
}

describe('the certificate of a receiver', () => {
  let folder: string;
  beforeAll(async () => void (folder = await makeCertificates()));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is told what is wrong with it; one of an authority of NODE_EXTRA_CA_CERTS is taken', async () => {
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
        'The certificate of the host lacks an intermediate, or is of an unknown authority.',
      ],
      [
        'chain.test',
        { by: 'another, in the chain', name: 'chain.test' },
        'The certificate of the host is of an unknown authority.',
      ],
      [
        'intermediate.test',
        { by: 'an intermediate of another', name: 'intermediate.test' },
        'The certificate of the host is of an unknown authority.',
      ],
      [
        'plain.test',
        undefined,
        'The host does not speak TLS at this port, or none that the service accepts.',
      ],
    ];
    const { endpointAt, post, outcome } = await start(() => ['127.0.0.1'], {
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
    });
    const endpoints: [string, string][] = [];
    for (const [name, certificate] of cases) {
      const tls = certificate && (await certificateFor(folder, certificate));
      const receiver = await receive(undefined, tls ? { tls } : {});
      endpoints.push([name, (await endpointAt(`https://${name}:${receiver.port}/`)).id]);
    }
    await post('X');
    for (const [at, [name, id]] of endpoints.entries()) {
      await expect.poll(() => outcome(id), { message: name }).toBeDefined();
      expect([name, await outcome(id)]).toEqual([name, cases[at]?.[2]]);
    }
  });

  it('cannot be agreed on again and again', async () => {
    let times = 0;
    const { endpointAt, post, outcome } = await start(() => ['127.0.0.1'], {
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
    });
    const certificate = await certificateFor(folder, { by: 'authority', name: 'good.test' });
    const receiver = createServer({ ...certificate, maxVersion: 'TLSv1.2' }, (socket) => {
      const again = (error: Error | null): void => {
        times += 1;
        if (!error && !socket.destroyed)
          socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, again);
      };
      socket.on('error', () => undefined).once('data', () => again(null));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void receiver.close());
    await once(receiver, 'listening');
    const { id } = await endpointAt(`https://good.test:${(receiver.address() as AddressInfo).port}/`);
    await post('X');
    await expect.poll(() => outcome(id)).toBeDefined();
    expect(await outcome(id)).toBe('The host sends more than the answer to a message needs.');
    expect(times).toBeGreaterThan(1);
    expect(times).toBeLessThan(1_000);
  });
});

describe('the name of a receiver', () => {
  it('that has no public address is not connected to, and the reason does not tell whether it exists', async () => {
    const trap = await receive();
    const cases: [name: string, records: ReturnType<Naming>][] = [
      ['private.test', ['127.0.0.1']],
      ['several.test', ['127.0.0.1', '10.0.0.1', '::1']],
      ['alias.test', { alias: 'private.test' }],
      ['aliases.test', { alias: 'alias.test' }],
      ['mapped.test', ['::ffff:127.0.0.1']],
      ['loopback6.test', ['::1']],
      ['nobody.test', 'nxdomain'],
      ['empty.test', []],
      ['failing.test', 'servfail'],
      ['refusing.test', 'refused'],
      ['silent.test', 'silent'],
    ];
    const { endpointAt, post, outcome } = await start(
      (name) => cases.find(([one]) => one === name)?.[1] ?? 'nxdomain',
    );
    const endpoints: [string, string][] = [];
    for (const [name] of cases)
      endpoints.push([name, (await endpointAt(`https://${name}:${trap.port}/`)).id]);
    await post('X');
    for (const [name, id] of endpoints) {
      await expect.poll(() => outcome(id), { message: name }).toBeDefined();
      expect([name, await outcome(id)]).toEqual([name, NO_ADDRESS]);
    }
    expect(trap.connections).toBe(0);
  });

  it('is looked up once for an attempt and anew for each, so that no address slips in between', async () => {
    // Another address of this machine stands for a public one.
    const receiver = await receive(undefined, { host: '127.0.0.2' });
    const trap = await receive(undefined, { port: receiver.port });
    const { names, endpointAt, post, outcome } = await start(
      (name, asked) => {
        if (name === 'silent.test') return 'silent';
        if (name === 'mixed.test') return ['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1'];
        return asked === 0 ? ['127.0.0.2'] : ['127.0.0.1'];
      },
      { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.2' },
    );
    const at = async (name: string) => (await endpointAt(`http://${name}:${receiver.port}/${name}`)).id;
    const [silent, mixed, rebound] = [
      await at('silent.test'),
      await at('mixed.test'),
      await at('rebound.test'),
    ];
    await post('A');
    for (const id of [mixed, rebound]) await expect.poll(() => outcome(id)).toBe('delivered');
    expect(names.asked('rebound.test')).toBe(1);
    await post('B');
    await expect.poll(() => outcome(rebound)).toBe(NO_ADDRESS);
    await expect.poll(() => outcome(mixed)).toBe('delivered');
    // The name server that does not answer has delayed none of them.
    expect(await outcome(silent)).toBeUndefined();
    expect(receiver.received.map(({ path, body }) => `${path} ${String(body.data.name)}`).toSorted()).toEqual(
      ['/mixed.test A', '/mixed.test B', '/rebound.test A'],
    );
    expect(trap.connections).toBe(0);
  });
});

it('twenty receivers that never stop sending hardly delay others', async () => {
  const { endpointAt, post } = await start(() => 'nxdomain', {
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1',
  });
  const median = async (): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const began = performance.now();
      await post('X');
      times.push(performance.now() - began);
    }
    return times.toSorted((a, b) => a - b)[10] ?? 0;
  };
  const alone = await median();
  const receiver = await receive(flood('HTTP/1.1 102 Processing\r\n\r\n', 4_000));
  await Promise.all(Array.from({ length: 20 }, () => endpointAt(receiver.url)));
  const besides = await median();
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(20);
  expect(besides).toBeLessThan(10 * alone);
});
