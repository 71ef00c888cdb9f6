import sqlite3 from 'sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { TestService } from '../kit/test-service.js';
import { WebhookDelivery } from '../../src/webhooks/webhook-delivery.entity.js';
import { WebhookDispatcher } from '../../src/webhooks/webhook-dispatcher.js';
import { WebhookEndpoint } from '../../src/webhooks/webhook-endpoint.entity.js';
import { onFile, sourceWith } from '../support/copy-source.js';
import { CopyTarget } from '../support/copy-target.js';
import { describeWith } from '../support/requirements.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

const AT = '2026-11-20T12:00:00.000Z';
const BEFORE = '2026-11-20T11:59:59.999Z';
const MINUTE = 60_000;
const DUE_AT = Date.parse(AT) + 5 * MINUTE;
const FAILING = '00000000-0000-4000-8000-000000000002';
const ORDERS = {
  webhook_endpoints: 'id',
  webhook_subscriptions: 'endpoint_id, event',
  webhook_messages: 'id',
  webhook_deliveries: 'id',
  webhook_fan_outs: 'id',
};

const endpoint = (n: number, url: string, rest: string) =>
  `('00000000-0000-4000-8000-00000000000${n}', 'shop', '${url}', ${rest})`;
const message = (n: number, name = `Pet ${n}`) =>
  `('msg_${n}', 'pets.created', '{"type":"pets.created","timestamp":"${AT}","data":{"id":${n},"name":"${name}","categoryId":9223372036854775807,"status":"sold"}}', '${AT}')`;

/**
 * Endpoints in every state, deliveries in every state, of which those with the highest ids were deleted with their message, and messages
 * without deliveries: for all clients, for this one, and for another.
 */
const webhooksAt = (url: string) => [
  `INSERT INTO clients (id, name, plan, created_at) VALUES ('shop', 'Shop', 'pro', '${AT}')`,
  `INSERT INTO webhook_endpoints (id, client_id, url, label, secret, previous_secrets, created_at, disabled_at, disabled_because, failures, failing_since, due_at, delay) VALUES
    ${endpoint(1, `${url}/healthy`, `'Läden 🐾', 'whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=', '[{"secret":"whsec_YmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmI=","until":"2026-11-21T12:00:00.000Z"}]', '${AT}', NULL, NULL, 0, NULL, 0, 0`)},
    ${endpoint(2, `${url}/failing`, `NULL, 'whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=', '[]', '${AT}', NULL, NULL, 2, '${AT}', ${DUE_AT}, ${5 * MINUTE}`)},
    ${endpoint(3, `${url}/disabled`, `'', 'whsec_YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE=', '[]', '${BEFORE}', '${BEFORE}', 'gone', 0, NULL, 0, 0`)}`,
  `INSERT INTO webhook_subscriptions (endpoint_id, event)
    SELECT id, event FROM webhook_endpoints, (SELECT 'pets.created' AS event UNION SELECT 'quota.threshold')`,
  `INSERT INTO webhook_messages (id, event, payload, created_at) VALUES
    ${message(1)}, ${message(2, `\u{1F43E}\u2028${'x'.repeat(60_000)}`)}, ${message(3)}, ${message(4)}, ${message(5)}`,
  `INSERT INTO webhook_deliveries (id, endpoint_id, message_id, state, attempts, attempted_at, status, error)
    SELECT 10 * number + substr(webhook_endpoints.id, -1), webhook_endpoints.id, 'msg_' || number, state, attempts, attempted_at, status, error
    FROM webhook_endpoints, (
      SELECT 1 AS number, 'delivered' AS state, 3 AS attempts, '${AT}' AS attempted_at, 204 AS status, NULL AS error
      UNION SELECT 2, 'failed', 10, '${AT}', NULL, 'It was not reached: "ECONNREFUSED"
a second line \\ 🐾'
      UNION SELECT 3, 'waiting', 2, '${AT}', 500, ''
      UNION SELECT 4, 'waiting', 0, NULL, NULL, NULL
      UNION SELECT 5, 'waiting', 0, NULL, NULL, NULL)`,
  `PRAGMA foreign_keys = ON; DELETE FROM webhook_messages WHERE id = 'msg_5'`,
  `INSERT INTO webhook_messages (id, event, payload, created_at) VALUES ${message(6)}, ${message(7)}, ${message(8)}`,
  `INSERT INTO webhook_fan_outs (message_id, client_id) VALUES ('msg_6', NULL), ('msg_7', 'shop'), ('msg_8', 'another')`,
];

/** The rows of a table of the file, each as a list of its values. */
function rowsOf(file: string, sql: string): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(file);
    database.all<object>(sql, (error, rows) => {
      database.close();
      if (error) reject(error);
      else resolve(rows.map((row) => Object.values(row)));
    });
  });
}

describeWith('postgres', 'webhooks of a store that moves to PostgreSQL', () => {
  it('are there exactly, go on in order behind all ids ever given, and keep failures and what is disabled', async () => {
    const [target, receiver] = [await CopyTarget.make(), await WebhookReceiver.start()];
    onTestFinished(async () => void (await Promise.all([target.remove(), receiver.stop()])));
    const file = await sourceWith(...webhooksAt(receiver.url));
    await target.copy(file);
    for (const [table, order] of Object.entries(ORDERS)) {
      const columns = await rowsOf(file, `SELECT name FROM pragma_table_info('${table}')`);
      const texts = columns.map(([name]) => `CAST(${String(name)} AS text) AS ${String(name)}`).join();
      const sql = `SELECT ${texts} FROM ${table} ORDER BY ${order}`;
      const there = await rowsOf(file, sql);
      expect(there.length).toBeGreaterThan(2);
      expect([table, await target.rows(sql)]).toEqual([table, there]);
    }

    const service = await TestService.open({
      at: AT,
      environment: { DATABASE_URL: target.url, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1' },
    });
    onTestFinished(() => service.close());
    const deliver = () => service.app.get(WebhookDispatcher).deliver();
    const sentTo = (path: string) => receiver.received.filter((one) => one.path === path);
    await service.request('POST', '/v1/pets', { json: { name: 'New', categoryId: 1 } });
    await deliver();
    const healthy = sentTo('/healthy');
    expect(healthy.map(({ body }) => body.data.name)).toEqual(['Pet 3', 'Pet 4', 'Pet 6', 'Pet 7', 'New']);
    const waited = ['msg_3', 'msg_4', 'msg_6', 'msg_7'];
    const made = expect.stringMatching(/^msg_\w{32}$/) as string;
    expect(healthy.map(({ id }) => id)).toEqual([...waited, made]);
    expect(healthy[0]?.text).toContain('"categoryId":9223372036854775807');
    const rows = await service.repository(WebhookDelivery).find({ order: { id: 'ASC' } });
    // 53 is the highest that was ever given.
    expect(rows.map(({ id }) => id).slice(-6)).toEqual([54n, 55n, 56n, 57n, 58n, 59n]);

    service.clock.advance(5 * MINUTE - 1);
    await deliver();
    expect(sentTo('/failing')).toEqual([]);
    service.clock.advance(1);
    await deliver();
    expect(sentTo('/failing').map(({ id }) => id)).toEqual([...waited, made]);
    expect(sentTo('/disabled')).toEqual([]);
    expect(await service.repository(WebhookEndpoint).findOneByOrFail({ id: FAILING })).toMatchObject({
      failures: 0,
      failingSince: null,
      dueAt: 0n,
    });
  });
});

it('deliveries on SQLite never get the id of a deleted one', async () => {
  const file = await sourceWith(...webhooksAt('http://127.0.0.1:9'));
  await onFile(
    file,
    `INSERT INTO webhook_deliveries (endpoint_id, message_id, state, attempts)
      SELECT endpoint_id, message_id, 'waiting', 0 FROM webhook_deliveries WHERE id = 43`,
  );
  expect(await rowsOf(file, 'SELECT MAX(id) FROM webhook_deliveries')).toEqual([[54]]);
});
