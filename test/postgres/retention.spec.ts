import { DataSource } from 'typeorm';
import { expect, it } from 'vitest';
import { exampleEnvironment } from '../../src/core/config/define-settings.js';
import { Settings } from '../../src/core/config/settings.js';
import { Sweeper } from '../../src/database/sweeper.js';
import { openForTest } from '../support/opened.js';

const DAY = 86_400_000;
const AT = '2026-11-20T12:00:00.000Z';

/** A row to make: when it is of, and a number that no other has. */
interface Row {
  readonly at: string;
  readonly n: number;
}

/** The statements that make rows, by table. */
const ENTRIES = {
  audit_entries: ({ at, n }: Row) =>
    `INSERT INTO audit_entries (at, action, actor, client_id, details) VALUES ('${at}', 'client.updated', 'service', 'c${n}', '{}')`,
  idempotency_entries: ({ at, n }: Row) =>
    `INSERT INTO idempotency_entries (client_id, key, digest, status, headers, body, created_at) VALUES ('c', 'k${n}', 'd', 201, '{}', '{}', '${at}')`,
  quota_counts: ({ at, n }: Row) =>
    `INSERT INTO quota_counts (key, window_start, used) VALUES ('client:${n}', ${dayOf(at)}, 1)`,
  quota_minutes: ({ at, n }: Row) =>
    `INSERT INTO quota_minutes (key, window_start, used) VALUES ('client:${n}', ${dayOf(at)}, 1)`,
  request_counts: ({ at, n }: Row) =>
    `INSERT INTO request_counts (client_id, length_ms, window_start, key_id, operation, outcome, bucket, requests)
     VALUES ('c${n}', ${DAY}, ${dayOf(at)}, 'k', 'GET /v1/pets', '2xx', 0, 1)`,
  refused_requests: ({ at, n }: Row) =>
    `INSERT INTO refused_requests (at, request_id, client_id, operation, status) VALUES ('${at}', 'r', 'c${n}', 'GET /v1/pets', 404)`,
};
type Table = keyof typeof ENTRIES;

function dayOf(at: string): number {
  return Math.floor(Date.parse(at) / DAY) * DAY;
}

async function open(environment: Record<string, string> = {}) {
  const service = await openForTest({ at: AT, environment });
  const database = service.app.get(DataSource);
  let n = 0;
  const insert = async (table: Table, daysAgo: number, beyondMs = 0) => {
    n += 1;
    const at = new Date(Date.parse(AT) - daysAgo * DAY - beyondMs).toISOString();
    await database.query(ENTRIES[table]({ at, n }));
  };
  const count = async (table: Table) => {
    const [row] = await database.query<{ n: number | string }[]>(`SELECT COUNT(*) AS n FROM ${table}`);
    return Number(row?.n);
  };
  return { service, put: insert, count, sweep: () => service.app.get(Sweeper).sweep() };
}

/** By table: the first age in days that is deleted with the settings of `open()`. */
const CASES: readonly (readonly [Table, gone: number])[] = [
  ['audit_entries', 30],
  ['idempotency_entries', 7],
  ['quota_counts', 11],
  ['quota_minutes', 11],
  ['request_counts', 11],
  ['refused_requests', 11],
];

it('settings say after how many days the rows of a table go, and no others go', async () => {
  const {
    put: insert,
    count,
    sweep,
  } = await open({
    AUDIT_RETENTION_DAYS: '30',
    IDEMPOTENCY_RETENTION_DAYS: '7',
    USAGE_RETENTION_DAYS: '10',
  });
  const tables = Object.keys(ENTRIES) as Table[];
  for (const table of tables) await insert(table, 0);
  const before = await Promise.all(tables.map(count));
  for (const [table, deleted] of CASES) {
    await insert(table, deleted, 1);
    await insert(table, deleted - 1, 0);
  }
  await sweep();
  expect(await Promise.all(tables.map(count))).toEqual(before.map((rows) => rows + 1));
});

it('the audit trail is kept forever unless a setting says otherwise', async () => {
  const { put: insert, count, sweep } = await open();
  const young = await count('audit_entries');
  await insert('audit_entries', 36_000);
  await sweep();
  expect(await count('audit_entries')).toBe(young + 1);
});

it('a response is repeated for as long as it is stored', async () => {
  const { service } = await open({ IDEMPOTENCY_RETENTION_DAYS: '3' });
  const headers = { 'idempotency-key': 'one' };
  const post = () => service.request('POST', '/v1/pets', { json: { name: 'Rex', categoryId: 1 }, headers });
  const first = await post();
  service.clock.advance(3 * DAY - 1);
  expect((await post()).body).toEqual(first.body);
  service.clock.advance(1);
  expect((await post()).body).not.toEqual(first.body);
});

it.each([
  ['AUDIT_RETENTION_DAYS', '36501', '0 to 36500'],
  ['USAGE_RETENTION_DAYS', '0', '1 to 3650'],
  ['IDEMPOTENCY_RETENTION_DAYS', '31', '1 to 30'],
])('%s=%s is refused', (variable, value, range) => {
  expect(() => new Settings({ ...exampleEnvironment(), [variable]: value })).toThrow(range);
});
