import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LEASE_MS, Leases } from '../../src/events/jobs/leases.js';
import { TestService } from '../kit/test-service.js';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import type { Responder } from '../support/webhook-receiver.js';
import { open, receive } from '../support/webhook-service.js';
import { databaseOf } from '../support/opened.js';

/** A holder that could not renew its lease for as long gives it up, in milliseconds. */
const HELD_MS = 10_000;

/** Instances look for pending messages, and renew their leases, only when the test calls them. */
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));

/** Two instances on one database, and an attempt of the first to which its receiver does not respond; the next attempt gets a response. */
async function underWay() {
  const first = await open({ database: 'file' });
  const { service: second } = await open({ environment: databaseOf(first.service) });
  let isCut = false;
  const hang: Responder = (response) => {
    receiver.respond = (next) => next.writeHead(204).end();
    response.on('close', () => (isCut = true));
  };
  const receiver = await receive(hang);
  await first.endpointAt(receiver.url);
  await first.post('X');
  await expect.poll(() => receiver.received.length).toBe(1);
  const takeOver = async () => {
    const dispatcher = second.app.get(WebhookDispatcher);
    await dispatcher.deliver();
    second.clock.advance(LEASE_MS);
    await dispatcher.deliver();
  };
  const renew = () => first.service.app.get(Leases).renewAll();
  return { first, second, receiver, takeOver, renew, isCut: () => isCut };
}

const cut = (service: TestService) => service.metric('petstore_webhook_attempts_total', { outcome: 'cut' });

describe('a lease that is lost while an attempt runs', () => {
  it.each<[string, (under: Awaited<ReturnType<typeof underWay>>) => Promise<void>, object]>([
    [
      'because it could not be renewed',
      async ({ first, renew, isCut }) => {
        first.clock.advance(HELD_MS - 1);
        await renew();
        expect(isCut()).toBe(false);
        first.clock.advance(HELD_MS);
      },
      { state: 'waiting', attempts: 0, attemptedAt: null, status: null, error: null },
    ],
    [
      'to another process, which sends it',
      ({ takeOver }) => takeOver(),
      { state: 'delivered', attempts: 1, status: 204 },
    ],
  ])(
    '%s: the attempt is aborted and not noted, and the next holder sends it once',
    async (_, lose, expected) => {
      const under = await underWay();
      const { first, second, receiver, takeOver, renew, isCut } = under;
      await lose(under);
      const noted = await first.deliveries();
      expect(noted).toMatchObject([expected]);
      expect(isCut()).toBe(false);
      await renew();
      await expect.poll(isCut).toBe(true);
      await expect.poll(() => cut(first.service)).toBe(1);
      expect(await cut(second)).toBe(0);
      expect(await first.deliveries()).toEqual(noted);
      await takeOver();
      expect(new Set(receiver.ids).size).toBe(1);
      expect(receiver.names).toEqual(['X', 'X']);
      expect(await first.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1, status: 204 }]);
    },
  );

  it('before it starts: a process that was suspended acquires it again', async () => {
    const { service, clock, deliver, endpointAt, post } = await open();
    const renew = () => service.app.get(Leases).renewAll();
    let renewed = Promise.resolve();
    const receiver = await receive((response) => {
      renewed = renew();
      response.writeHead(204).end();
    });
    await endpointAt(receiver.url);
    for (const name of ['X', 'Y']) {
      await post(name);
      await deliver();
      await renewed;
      clock.advance(HELD_MS);
    }
    expect(receiver.names).toEqual(['X', 'Y']);
    expect(await cut(service)).toBe(0);
  });

  it('and comes back: the same process sends what it had to leave, once', async () => {
    const { first, receiver, renew } = await underWay();
    first.clock.advance(HELD_MS);
    await renew();
    await first.deliver();
    expect(receiver.names).toEqual(['X', 'X']);
    expect(await first.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1, status: 204 }]);
    await first.post('Y');
    await first.deliver();
    expect(receiver.names).toEqual(['X', 'X', 'Y']);
  });
});
