import { describe, expect, it, onTestFinished } from 'vitest';
import { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import type { TestService } from '../kit/test-service.js';
import { jsonBy, printedBy } from '../support/orders.js';
import { open, receive } from '../support/webhook-service.js';

const SECRET = /whsec_[\w+/=]+/;

const json = (service: TestService, ...args: string[]) => jsonBy(service, ['webhook', ...args]);

const shown = async (service: TestService, ...args: string[]) =>
  (await printedBy(service, ['webhook', ...args])).stdout;

describe('petstore webhook', () => {
  it('lists the events, creates an endpoint, shows its secret once, and lists, changes, disables, enables and deletes it', async () => {
    const { service } = await open();
    const readable = { name: 'pets.created', scope: 'pets:read' };
    expect(await json(service, 'events')).toContainEqual(expect.objectContaining(readable));
    const order = ['create', '--client', 'Test', '--url', 'https://shop.example.com/hooks'];
    const made = await json(service, ...order, '--events', 'quota.threshold,pets.created', '--label', 'Shop');
    expect(made).toMatchObject({
      clientId: service.clientId,
      secret: expect.stringMatching(SECRET),
      events: ['pets.created', 'quota.threshold'],
      label: 'Shop',
      enabled: true,
    });
    const { id } = made;
    expect(await json(service, 'list', '--client', 'Test')).toMatchObject([{ id }]);
    expect(await shown(service, 'list')).toMatch(
      /^ID +URL +CLIENT NAME +ENABLED.*\n.* +https:\/\/shop\.example\.com\/hooks +Test +true/,
    );
    await json(service, 'update', id, '--events', 'pets.created');
    expect(await json(service, 'disable', id)).toMatchObject({ enabled: false, disabledBecause: 'operator' });
    const { body } = await service.request('GET', `/admin/webhooks/${id}`, {
      key: (await service.issueKey({ scopes: ['admin'] })).key,
    });
    expect(body).toMatchObject({ disabledBecause: 'operator', events: ['pets.created'] });
    expect(await json(service, 'enable', id)).toMatchObject({ enabled: true });
    const rotated = await json(service, 'rotate', id, '--grace', '1h');
    expect(rotated.secret).toMatch(SECRET);
    expect(rotated).toMatchObject({ previousSecretUntil: '2026-11-20T13:00:00.000Z' });
    expect(await shown(service, 'show', id)).not.toMatch(SECRET);
    await json(service, 'delete', id);
    expect(await shown(service, 'list')).toBe('There are no entries.\n');
  });

  it('sends a test, shows what became of it with its body, and sends it again', async () => {
    const { service, endpointAt, deliver } = await open();
    const receiver = await receive((response) => response.writeHead(503).end());
    const { id } = await endpointAt(receiver.url);
    const sent = await json(service, 'test', id);
    expect(sent).toMatchObject({ event: 'webhook.test', state: 'waiting', attempts: 0 });
    await deliver();
    expect(await json(service, 'deliveries', id, '--state', 'waiting')).toMatchObject([
      { id: sent.id, attempts: 1, status: 503, error: 'It responded with 503.' },
    ]);
    expect(await shown(service, 'delivery', String(sent.id))).toContain(`"data":{"endpointId":"${id}"}`);
    const again = await json(service, 'redeliver', String(sent.id));
    expect(again).toMatchObject({ messageId: sent.messageId, state: 'waiting' });
    expect(await json(service, 'deliveries', id, '--limit', '1')).toMatchObject([{ id: again.id }]);
    expect(await shown(service, 'deliveries', id, '--state', 'failed')).toBe('There are no entries.\n');
  });

  it('says that enabling an endpoint that is enabled and fails changes nothing, and what retries it', async () => {
    const { service, endpointAt, deliver } = await open();
    const receiver = await receive((response) => response.writeHead(503).end());
    const { id } = await endpointAt(receiver.url);
    expect(await shown(service, 'enable', id)).toContain(
      'The endpoint was enabled, and its waiting messages',
    );
    await json(service, 'test', id);
    await deliver();
    const { nextAttemptAt } = await json(service, 'show', id);
    const enabled = await shown(service, 'enable', id);
    expect(enabled).toContain(
      `nothing has changed. It is failing, and its next attempt is due at ${nextAttemptAt}`,
    );
    expect(enabled).toContain(`petstore webhook retry ${id}`);
    expect(await shown(service, 'list')).toMatch(/^ID .* LAST ERROR .*\n.* It responded with 503\. /);
    await json(service, 'disable', id);
    expect(await json(service, 'show', id)).toMatchObject({
      enabled: false,
      lastError: 'It responded with 503.',
    });
  });

  it.each([
    ['an unknown endpoint', ['show', 'none'], 1, 'There is no endpoint none.'],
    ['an unknown delivery', ['redeliver', '7'], 1, 'There is no delivery 7'],
    ['a delivery that is no id', ['delivery', '7x'], 1, 'There is no delivery 7x'],
    [
      'an unknown event',
      ['create', '--client', 'Test', '--url', 'https://a.example/', '--events', 'x'],
      2,
      '--events: There is no such event',
    ],
    [
      'an address of this machine',
      ['create', '--client', 'Test', '--url', 'http://192.168.0.1/', '--events', 'pets.created'],
      2,
      'WEBHOOK_ALLOWED_NETWORKS',
    ],
    ['everything that is missing', ['create'], 2, /^--client: .*\n--url: .*\n--events: /s],
    [
      'a state that is none',
      ['deliveries', '0f8fad5b-d9cb-469f-a165-70867728950e', '--state', 'lost'],
      2,
      '--state: This must be one of waiting',
    ],
    ['nobody to ask', ['delete', 'x'], 1, 'add --yes'],
    [
      'where to forward that is no URL',
      ['listen', '--forward', 'localhost:4000'],
      2,
      '--forward: This must be a URL',
    ],
    ['no event to listen to', ['listen', '--events', ''], 2, '--events: This must'],
  ] as const)('refuses %s', async (_, args, code, reason) => {
    const { service } = await open();
    const refused = await printedBy(service, ['webhook', ...args]);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toMatch(reason);
  });
});

describe('petstore webhook listen', () => {
  /** Starts to listen, and returns how it ends when it is told to. */
  async function listening(service: TestService, ...args: string[]) {
    let [out, errors] = ['', ''];
    const shell = {
      write: async (text: string) => void (out += text),
      writeError: (text: string) => (errors += text),
    };
    const ended = printedBy(service, ['webhook', 'listen', ...args], shell);
    let isOver = false;
    void ended.then(() => (isOver = true));
    const stop = async () => {
      // As Ctrl-C does for the handler of the command alone.
      if (!isOver) process.emit('SIGHUP');
      return (await ended).code;
    };
    onTestFinished(async () => void (await stop()));
    await expect.poll(() => isOver || errors.includes('signed with')).toBe(true);
    return { stop, out: () => out, errors: () => errors };
  }

  it('prints each message, forwards it as it came, and deletes its endpoint at the end', async () => {
    const { service, post, deliver } = await open();
    const receiver = await receive();
    const listener = await listening(service, '--forward', `${receiver.url}/hooks`);
    await post('Rex');
    await expect
      .poll(async () => {
        await deliver();
        return receiver.received.map(({ body }) => body.type);
      })
      .toEqual(['webhook.test', 'pets.created']);
    const [, second] = receiver.received;
    expect(second).toMatchObject({ path: '/hooks', body: { data: { name: 'Rex' } } });
    await expect
      .poll(listener.out)
      .toMatch(/msg_\w+ → 204\n.*webhook\.test.*\nmsg_\w+ → 204\n.*"name":"Rex"/);
    expect(listener.errors()).toMatch(SECRET);
    expect(await listener.stop()).toBe(0);
    expect(await service.repository(WebhookEndpoint).count()).toBe(0);
  });

  it('reports when the program does not accept a message, which the service then sends again', async () => {
    const { service, deliver, deliveries } = await open();
    const listener = await listening(service, '--forward', 'http://127.0.0.1:1/', '--json');
    await expect
      .poll(async () => {
        await deliver();
        return listener.out();
      })
      .toMatch(/"status":502,"error":"It could not be forwarded: [^"]+","message":\{"type":"webhook.test"/);
    await expect.poll(deliveries).toMatchObject([{ state: 'waiting', status: 502 }]);
    expect(await listener.stop()).toBe(0);
  });

  it('deletes what a killed one has left, and accepts no message of another program', async () => {
    const { service, endpointAt, manager } = await open();
    await endpointAt('http://127.0.0.1:1/', {
      label: 'petstore webhook listen',
      failingSince: '2026-11-20T11:00:00.000Z',
    });
    const listener = await listening(service);
    const [endpoint, ...others] = await manager.find(WebhookEndpoint);
    expect(others).toEqual([]);
    expect((await fetch(endpoint?.url ?? '', { method: 'POST', body: '{}' })).status).toBe(400);
    expect(listener.out()).not.toMatch(/^\{\}$/m);
  });

  it('says what it needs if the service may not send to this machine, and creates nothing', async () => {
    const { service } = await open({ environment: { WEBHOOK_ALLOWED_NETWORKS: '' } });
    const refused = await printedBy(service, ['webhook', 'listen']);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS=127.0.0.1/32'),
    ]);
    expect(await service.repository(WebhookEndpoint).count()).toBe(0);
  });
});
