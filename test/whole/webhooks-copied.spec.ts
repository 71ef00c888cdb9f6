import { expect, it, onTestFinished } from 'vitest';
import { TestService } from '../kit/test-service.js';
import { BackgroundLoops } from '../../src/events/jobs/background-loops.js';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import { CopyTarget } from '../support/copy-target.js';
import { describeWith } from '../support/requirements.js';
import { databaseOfTest } from '../support/service-process.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const AT = '2026-11-20T12:00:00.000Z';

async function openOn(databaseUrl: string) {
  const service = await TestService.open({
    at: AT,
    scopes: ['account', 'pets:read', 'pets:write'],
    environment: { DATABASE_URL: databaseUrl, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
  });
  return { service, deliver: () => service.app.get(WebhookDispatcher).deliver() };
}

/** Calls of the client that the copied store belongs to. */
function callsOf(service: TestService, key: string) {
  const json = (method: string, path: string, body: object) =>
    service.request(method, path, { key, json: body });
  return {
    post: (name: string) => json('POST', '/v1/pets', { name, categoryId: 1 }),
    make: async (url: string): Promise<string> =>
      (await json('POST', '/account/webhooks', { url, events: ['pets.created'] })).body.id,
    endpoint: async (id: string) => (await service.request('GET', `/account/webhooks/${id}`, { key })).body,
    enable: (id: string) => json('PATCH', `/account/webhooks/${id}`, { enabled: true }),
  };
}

describeWith('postgres', 'webhooks of a store that is copied to PostgreSQL', () => {
  it('are sent in their order, and an endpoint that was disabled stays so until it is enabled', async () => {
    const [target, receiver] = [await CopyTarget.make(), await WebhookReceiver.start()];
    onTestFinished(async () => void (await Promise.all([target.remove(), receiver.stop()])));
    const sentTo = (path: string) =>
      receiver.received.filter((one) => one.path === path).map(({ body }) => body.data.name);
    receiver.respond = (response, { path }) => response.writeHead(path === '/gone' ? 410 : 500).end();

    const databaseUrl = await databaseOfTest();
    const { service: old, deliver: deliverOld } = await openOn(databaseUrl);
    const { key } = old;
    const before = callsOf(old, key);
    const [finished, waiting] = [
      await before.make(`${receiver.url}/gone`),
      await before.make(`${receiver.url}/waiting`),
    ];
    for (const name of ['A', 'B']) {
      await before.post(name);
      await deliverOld();
    }
    // The deliveries of these are made only after the copy.
    await old.app.get(BackgroundLoops).stop();
    for (const name of ['C', 'D']) await before.post(name);
    const disabled = { enabled: false, disabledBecause: 'gone', disabledAt: AT };
    expect(await before.endpoint(finished)).toMatchObject(disabled);
    expect(await before.endpoint(waiting)).toMatchObject({ waiting: 2, failingSince: AT });
    await old.close();
    await target.copy(databaseUrl.replace('sqlite:', ''));

    receiver.received.length = 0;
    receiver.respond = (response) => response.writeHead(204).end();
    const { service, deliver } = await openOn(target.url);
    onTestFinished(() => service.close());
    const after = callsOf(service, key);
    await after.post('E');
    await deliver();
    // The copy includes the pause after the failure.
    expect(receiver.received).toEqual([]);
    expect(await after.endpoint(finished)).toMatchObject(disabled);
    service.clock.advance(6_000);
    await deliver();
    expect(sentTo('/waiting')).toEqual(['A', 'B', 'C', 'D', 'E']);
    expect(await after.endpoint(waiting)).toMatchObject({ waiting: 0, failingSince: null });
    expect(sentTo('/gone')).toEqual([]);
    await after.enable(finished);
    await after.post('F');
    await deliver();
    expect(sentTo('/gone')).toEqual(['F']);
  });
});
