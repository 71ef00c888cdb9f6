import { DataSource } from 'typeorm';
import { describe, expect, it, vi } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { JsonReader } from '../../src/database/database.js';
import { Transactions } from '../../src/database/transactions/transactions.js';
import type { TestService } from '../kit/test-service.js';
import { databaseOf, openForAll, openForTest } from '../support/opened.js';
import { petstoreHere } from '../support/petstore-here.js';

/** The ids that a change is about. */
interface Changed {
  readonly id: string;
  readonly clientId: string;
}

/** One change, by each way that there is for it, and what a request gets after it. */
interface Change {
  readonly name: string;
  readonly http?: (changed: Changed) => readonly [method: string, path: string, json?: object];
  readonly command?: (changed: Changed) => readonly string[];
  readonly sql: (changed: Changed) => string;
  readonly after: readonly [status: number, codeOrLimit: string];
}

const NOW = '2026-11-20T12:00:00.000Z';

const CHANGES: readonly Change[] = [
  {
    name: 'revocation',
    http: ({ id }) => ['POST', `/admin/keys/${id}/revoke`],
    command: ({ id }) => ['key', 'revoke', id, '--yes'],
    sql: ({ id }) => `UPDATE api_keys SET revoked_at = '${NOW}' WHERE id = '${id}'`,
    after: [401, 'revoked_api_key'],
  },
  {
    name: 'rotation with a grace of 0',
    http: ({ id }) => ['POST', `/admin/keys/${id}/rotate`, { grace: '0' }],
    command: ({ id }) => ['key', 'rotate', id, '--grace', '0', '--yes'],
    sql: ({ id }) => `UPDATE api_keys SET revoked_at = '${NOW}', expires_at = '${NOW}' WHERE id = '${id}'`,
    after: [401, 'revoked_api_key'],
  },
  {
    name: 'suspension',
    http: ({ clientId }) => ['POST', `/admin/clients/${clientId}/suspend`],
    command: ({ clientId }) => ['client', 'suspend', clientId],
    sql: ({ clientId }) => `UPDATE clients SET suspended_at = '${NOW}' WHERE id = '${clientId}'`,
    after: [403, 'client_suspended'],
  },
  {
    name: 'larger plan',
    http: ({ clientId }) => ['PATCH', `/admin/clients/${clientId}`, { plan: 'business' }],
    command: ({ clientId }) => ['client', 'set-plan', clientId, '--plan', 'business'],
    sql: ({ clientId }) => `UPDATE clients SET plan = 'business' WHERE id = '${clientId}'`,
    after: [200, '1000'],
  },
  {
    name: 'smaller plan',
    http: ({ clientId }) => ['PATCH', `/admin/clients/${clientId}`, { plan: 'free' }],
    command: ({ clientId }) => ['client', 'set-plan', clientId, '--plan', 'free'],
    sql: ({ clientId }) => `UPDATE clients SET plan = 'free' WHERE id = '${clientId}'`,
    after: [200, '60'],
  },
  {
    name: 'loss of a scope',
    sql: ({ id }) => `UPDATE api_keys SET scopes = '["pets:write"]' WHERE id = '${id}'`,
    after: [403, 'insufficient_scope'],
  },
  {
    name: 'deletion of the client',
    http: ({ clientId }) => ['DELETE', `/admin/clients/${clientId}`],
    command: ({ clientId }) => ['client', 'delete', clientId, '--yes'],
    sql: ({ clientId }) => `DELETE FROM clients WHERE id = '${clientId}'`,
    after: [401, 'invalid_api_key'],
  },
  {
    name: 'deletion of the key',
    sql: ({ id }) => `DELETE FROM api_keys WHERE id = '${id}'`,
    after: [401, 'invalid_api_key'],
  },
];

const PRO = [200, '300'];

/** What a request with a key gets: the code of its refusal, or its limit. */
async function resultOf(service: TestService, key: string): Promise<readonly [number, unknown]> {
  const { status, body, headers } = await service.request('GET', '/v1/pets?limit=1', { key });
  return [status, status === 200 ? headers.get('X-RateLimit-Limit') : body.code];
}

const changing = await openForAll({ database: 'file', scopes: ['admin', 'pets:read', 'pets:write'] });
const other = await openForAll({ environment: databaseOf(changing) });

describe('a change of a key or its client by one instance', () => {
  const ways = CHANGES.flatMap((change) =>
    (['http', 'command', 'sql'] as const).filter((way) => change[way]).map((way) => ({ change, way })),
  );

  it.each(ways)('by $way, $change.name, applies to others within one second', async ({ change, way }) => {
    const issued = await changing.issueKey({ plan: 'pro', scopes: ['pets:read', 'pets:write'] });
    for (const service of [changing, other]) expect(await resultOf(service, issued.key)).toEqual(PRO);
    const { http, command, sql } = change;
    if (way === 'sql') await changing.app.get(DataSource).query(sql(issued));
    if (way === 'http' && http) {
      const [method, path, json] = http(issued);
      expect((await changing.request(method, path, json ? { json } : {})).status).toBeLessThan(300);
      // It has made the change.
      expect(await resultOf(changing, issued.key)).toEqual(change.after);
    }
    if (way === 'command' && command) {
      const { code, stderr } = await petstoreHere('.', command(issued), databaseOf(changing));
      expect([code, stderr]).toEqual([0, stderr]);
    }
    for (const service of [changing, other]) {
      service.clock.advance(1_000);
      expect(await resultOf(service, issued.key)).toEqual(change.after);
    }
  });
});

describe('an instance', () => {
  const FIND = 'FROM api_keys';

  it('uses a key for less than a second after it started to read it, and then reads it again', async () => {
    const service = await openForTest();
    const first = vi.spyOn(service.app.get(JsonReader, { strict: false }), 'first');
    const reads = () => first.mock.calls.filter(([sql]) => sql.includes(FIND)).length;
    const { key } = await service.issueKey({ plan: 'pro' });
    for (const [passed, expected] of [
      [0, 1],
      [499, 1],
      // Read alongside the request.
      [500, 2],
      [499, 2],
      [501, 3],
    ] as const) {
      service.clock.advance(passed);
      expect(await resultOf(service, key)).toEqual(PRO);
      expect([passed, reads()]).toEqual([passed, expected]);
    }
    // A clock that is set back lengthens nothing.
    service.clock.step(-3_600_000);
    service.clock.advance(1_000);
    await resultOf(service, key);
    expect(reads()).toBe(4);
  });

  /** Makes the next reads of keys wait, after their statement, until they are released. */
  function holdReads(service: TestService) {
    const reader = service.app.get(JsonReader, { strict: false });
    const first = reader.first.bind(reader);
    const waiting: (() => void)[] = [];
    const held = vi.spyOn(reader, 'first').mockImplementation(async (sql, parameters) => {
      const row = await first(sql, parameters);
      if (sql.includes(FIND)) await new Promise<void>((resolve) => waiting.push(resolve));
      return row;
    });
    const release = (): void => {
      held.mockRestore();
      for (const go of waiting.splice(0)) go();
    };
    return { waiting, release };
  }

  it('uses a read that took a second once', async () => {
    const service = await openForTest();
    const { id, key } = await service.issueKey({ plan: 'pro' });
    const { waiting, release } = holdReads(service);
    const slow = resultOf(service, key);
    await expect.poll(() => waiting.length).toBe(1);
    await service.app.get(DataSource).query(`UPDATE api_keys SET revoked_at = '${NOW}' WHERE id = '${id}'`);
    service.clock.advance(1_000);
    // It shares no read that is so old.
    const late = resultOf(service, key);
    await expect.poll(() => waiting.length).toBe(2);
    release();
    expect([await slow, await late, await resultOf(service, key)]).toEqual([
      PRO,
      [401, 'revoked_api_key'],
      [401, 'revoked_api_key'],
    ]);
  });

  it('does not use what it read before its own change', async () => {
    const service = await openForTest();
    const { id, key } = await service.issueKey({ plan: 'pro' });
    const { waiting, release } = holdReads(service);
    const before = resultOf(service, key);
    await expect.poll(() => waiting.length).toBe(1);
    await service.app.get(ApiKeysService).revoke(id, {}, SERVICE_ITSELF);
    const after = resultOf(service, key);
    await expect.poll(() => waiting.length).toBe(2);
    release();
    expect([await before, await after, await resultOf(service, key)]).toEqual([
      PRO,
      [401, 'revoked_api_key'],
      [401, 'revoked_api_key'],
    ]);
  });

  it('applies a change with the commit of the outermost transaction', async () => {
    const service = await openForTest();
    const { clientId, key } = await service.issueKey({ plan: 'pro' });
    const suspended = async (fails: boolean): Promise<void> => {
      const ended = service.app.get(Transactions).run({}, (inside) =>
        inside(async () => {
          await service.app.get(ClientsService).suspend(clientId, {}, SERVICE_ITSELF);
          if (fails) throw new Error('undone');
        }),
      );
      await ended.catch(() => undefined);
    };
    expect(await resultOf(service, key)).toEqual(PRO);
    await suspended(true);
    expect(await resultOf(service, key)).toEqual(PRO);
    await suspended(false);
    expect(await resultOf(service, key)).toEqual([403, 'client_suspended']);
  });

  it.each([
    ['revoked', `UPDATE api_keys SET revoked_at = '${NOW}'`, 'UPDATE api_keys SET revoked_at = NULL'],
    ['expired', `UPDATE api_keys SET expires_at = '${NOW}'`, 'UPDATE api_keys SET expires_at = NULL'],
    ['suspended', `UPDATE clients SET suspended_at = '${NOW}'`, 'UPDATE clients SET suspended_at = NULL'],
    [
      'unknown',
      'UPDATE api_keys SET digest = SUBSTR(digest, 2) || SUBSTR(digest, 1, 1)',
      'UPDATE api_keys SET digest = SUBSTR(digest, LENGTH(digest)) || SUBSTR(digest, 1, LENGTH(digest) - 1)',
    ],
  ])('admits a key that was %s as soon as it is valid', async (_, refuse, admit) => {
    const service = await openForTest();
    const database = service.app.get(DataSource);
    await database.query(refuse);
    for (let sent = 0; sent < 2; sent += 1)
      expect((await resultOf(service, service.key))[0]).toBeGreaterThanOrEqual(400);
    await database.query(admit);
    expect((await resultOf(service, service.key))[0]).toBe(200);
  });

  it('reads a cached key again once it has expired', async () => {
    const service = await openForTest();
    const { id, key } = await service.issueKey({ plan: 'pro', expires: 500 });
    expect(await resultOf(service, key)).toEqual(PRO);
    await service.app.get(DataSource).query(`UPDATE api_keys SET expires_at = NULL WHERE id = '${id}'`);
    service.clock.advance(500);
    expect(await resultOf(service, key)).toEqual(PRO);
  });
});
