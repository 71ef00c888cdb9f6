import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ON_POSTGRES } from '../support/databases.js';
import { gate } from '../support/gate.js';
import type { Responder } from '../support/webhook-receiver.js';
import { open, receive } from '../support/webhook-service.js';

/** Maximum time of an attempt, in milliseconds. */
const LIMIT_MS = 15_000;

/** Lets the time of timers pass alone; sockets and the clock of the service stay as they are. */
const holdTimers = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });

/** Whether a promise has settled after a turn of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(() => resolve(pending)));
  return (await Promise.race([promise, turn])) !== pending;
}

const HANGING: [what: string, answer: Responder][] = [
  ['is not answered', () => undefined],
  [
    'is answered with a header that never ends',
    (response) => response.socket?.write('HTTP/1.1 200 OK\r\nA: '),
  ],
];

// The time limits of statements on PostgreSQL use the same timers, so advancing these would also abort a running statement.
describe.skipIf(ON_POSTGRES)('an attempt that takes 15 s', () => {
  it.each(HANGING)('and %s is aborted, with the reason', async (_, respond) => {
    const { post, deliver, endpointAt, endpoint, deliveries } = await open();
    const requested = gate();
    const hanging = await receive((response, received) => {
      requested.open();
      return respond(response, received);
    });
    const { id } = await endpointAt(hanging.url);
    holdTimers();
    await post('X');
    const delivered = deliver();
    await requested.opened;
    vi.advanceTimersByTime(LIMIT_MS - 1);
    expect(await isSettled(delivered)).toBe(false);
    expect(await deliveries()).toMatchObject([{ attempts: 0 }]);
    vi.advanceTimersByTime(1);
    await delivered;
    expect(await deliveries()).toMatchObject([
      { state: 'waiting', attempts: 1, status: null, error: 'No response within 15 s.' },
    ]);
    expect(await endpoint(id)).toMatchObject({ failures: 1 });
  });

  it('is aborted even before the TLS handshake is complete', async () => {
    const { post, deliver, endpointAt, deliveries } = await open();
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    const connected = once(silent, 'connection');
    await endpointAt(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    holdTimers();
    await post('X');
    const delivered = deliver();
    await connected;
    vi.advanceTimersByTime(LIMIT_MS);
    await delivered;
    expect(await deliveries()).toMatchObject([
      { attempts: 1, status: null, error: 'No response within 15 s.' },
    ]);
  });
});
