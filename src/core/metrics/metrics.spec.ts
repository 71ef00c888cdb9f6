import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Settings } from '../config/settings.js';
import { ManagementServer } from './management-server.js';
import { Metrics } from './metrics.js';

describe('a gauge that is read on request', () => {
  const lines = async (metrics: Metrics) =>
    (await metrics.exposition()).text.split('\n').filter((line) => line.startsWith('toys_'));

  it('shows what there is at that time, and nothing while it cannot be read or is no number, which keeps no other from being shown', async () => {
    const metrics = new Metrics();
    metrics.gauge('toys_made', 'Toys').set(1);
    let open: number | undefined = 3;
    metrics.gauge('toys_open', 'Toys', [], () =>
      open === undefined ? Promise.reject(new Error('gone')) : Promise.resolve(open),
    );
    let shelves: Record<string, number> = { top: 1, low: 2 };
    metrics.gauge('toys_on', 'Toys', ['shelf'], () =>
      Object.entries(shelves).map(([shelf, value]) => ({ labels: { shelf }, value })),
    );
    // PostgreSQL's driver returns a count as text.
    metrics.gauge('toys_of_another', 'Toys', [], () => '5' as never);
    metrics.counter('toys_sold_total', 'Toys', [], () => [{ labels: {}, value: -1 }]);
    const onShelves = ['toys_on{shelf="top"} 1', 'toys_on{shelf="low"} 2'];
    expect(await lines(metrics)).toEqual(['toys_made 1', 'toys_open 3', ...onShelves]);
    // Reading the shelves throws.
    [open, shelves] = [undefined, null as never];
    expect(await lines(metrics)).toEqual(['toys_made 1']);
    [open, shelves] = [5, { low: 3 }];
    expect(await lines(metrics)).toEqual(['toys_made 1', 'toys_open 5', 'toys_on{shelf="low"} 3']);
  });
});

it('the management port serves only the metrics, with any query parameters', async () => {
  const metrics = new Metrics();
  const server = new ManagementServer(metrics, new Settings({ MANAGEMENT_PORT: '0' }));
  const port = await server.listen();
  onTestFinished(() => server.onApplicationShutdown());
  const request = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    const text = await response.text();
    const code = response.ok ? text.length > 1_000 : (JSON.parse(text) as { code: string }).code;
    return [response.status, code, response.headers.get('allow')];
  };
  expect(await request('/metrics')).toEqual([200, true, null]);
  expect(await request('/metrics?collect[]=all')).toEqual([200, true, null]);
  expect(await request('/metrics', 'HEAD')).toEqual([200, false, null]);
  expect(await request('/metrics', 'POST')).toEqual([405, 'method_not_allowed', 'GET, HEAD']);
  expect(await request('/metrics/')).toEqual([404, 'route_not_found', null]);
});

it.each([
  ['is no HTTP', 'nonsense\r\n\r\n', '400 Bad Request', 'malformed_request'],
  [
    'has too large a head',
    `GET /metrics HTTP/1.1\r\nHost: a\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
    'headers_too_large',
  ],
])('the management port refuses what %s with an Error body', async (_, bytes, status, code) => {
  const server = new ManagementServer(new Metrics(), new Settings({ MANAGEMENT_PORT: '0' }));
  const port = await server.listen();
  onTestFinished(() => server.onApplicationShutdown());
  let text = '';
  const socket = connect(Number(port), '127.0.0.1').on('data', (piece) => (text += piece.toString()));
  socket.write(bytes);
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toContain(`HTTP/1.1 ${status}\r\n`);
  expect(JSON.parse(body)).toMatchObject({ code, status: Number.parseInt(status, 10) });
});
