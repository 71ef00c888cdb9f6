import { describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/auth/clients/api-keys.service.js';
import { SERVICE_ITSELF } from '../../src/auth/clients/audited-changes.js';
import { ClientsService } from '../../src/auth/clients/clients.service.js';
import { KeyIssuingService } from '../../src/auth/clients/key-issuing.service.js';
import { declaredScopes } from '../../src/auth/scopes.js';
import { faultsOf } from '../support/faults.js';
import { type Operation, type Outcome, onCommandLine, overHttp } from '../support/orders.js';
import { type TestService } from '../kit/test-service.js';
import { UNLIMITED, openForAll } from '../support/opened.js';

const ALL = declaredScopes().map(({ name }) => name);
const GRANTED_BY_DEFAULT = declaredScopes()
  .filter(({ grantedByDefault }) => grantedByDefault)
  .map(({ name }) => name);
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The objects of a case's operations: created again for the command line and for HTTP. */
interface Ids {
  /** A client on the plan pro, with one key. */
  readonly client: string;
  readonly key: string;
  /** An enterprise client. */
  readonly big: string;
}

/** Orders given one after the other; the outcome of the last is what counts. */
type Case = readonly [
  name: string,
  orders: (ids: Ids) => Operation[],
  expected: RegExp | ((ids: Ids) => object),
];

/** The JSON of an order, by the options that the command line has for it. */
function jsonOf(line: readonly string[]): object {
  const options = line.flatMap((word, at) => (word.startsWith('--') ? [[word.slice(2), line[at + 1]]] : []));
  const members = options.map(([option = '', value = '']) => {
    const name =
      option === 'client'
        ? 'clientId'
        : option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [name, name === 'scopes' ? value.split(',') : name.startsWith('per') ? Number(value) : value];
  });
  return Object.fromEntries(members) as object;
}

/** A command of one line, or its words where one of them has spaces. */
const by =
  (method: string) =>
  (path: string, line: string | string[]): Operation => {
    const args = typeof line === 'string' ? line.split(' ') : line;
    return { args, method, path, json: method === 'GET' ? undefined : jsonOf(args) };
  };
const get = by('GET');
const post = by('POST');
const patch = by('PATCH');

const suspend = ({ client }: Ids) => post(`/admin/clients/${client}/suspend`, `client suspend ${client}`);
const revoke = ({ key }: Ids) => post(`/admin/keys/${key}/revoke`, `key revoke ${key}`);
const rotate = ({ key }: Ids, grace = '24h') =>
  post(`/admin/keys/${key}/rotate`, `key rotate ${key} --grace ${grace}`);
const AT = '2026-11-20T12:00:10.250Z';

const CASES: readonly Case[] = [
  [
    'make a client',
    () => [post('/admin/clients', 'client create --name Zoo --plan pro')],
    () => ({ name: 'Zoo', plan: 'pro', perMinute: 300, perDay: 10_000, createdAt: AT, suspendedAt: null }),
  ],
  [
    'make an enterprise client',
    () => [post('/admin/clients', 'client create --name B --plan enterprise --per-minute 5 --per-day 6')],
    () => ({ plan: 'enterprise', perMinute: 5, perDay: 6 }),
  ],
  [
    'refuse an enterprise client without limits, both of them',
    () => [post('/admin/clients', 'client create --name B --plan enterprise')],
    /^(A client on the enterprise plan requires its own limits\.\n?){2}$/,
  ],
  [
    'refuse limits on a fixed plan',
    () => [post('/admin/clients', 'client create --name B --plan free --per-day 9')],
    /^The plan free has fixed limits/,
  ],
  [
    'refuse a blank name',
    () => [post('/admin/clients', ['client', 'create', '--name', ' ', '--plan', 'free'])],
    /^This must contain a visible character\.$/,
  ],
  [
    'refuse a name that holds an API key',
    ({ client }) => {
      const name = `my pst_test_${'0'.repeat(30)}2Wj70T`;
      return [patch(`/admin/clients/${client}`, ['client', 'rename', client, '--name', name])];
    },
    /^This must not contain an API key\.$/,
  ],
  [
    'show a client with its usage',
    ({ client }) => [get(`/admin/clients/${client}?days=2`, `client show ${client} --days 2`)],
    () => ({
      name: 'Shop',
      windows: [
        { name: 'minute', limit: 300, used: 0, remaining: 300, resetsAt: '2026-11-20T12:01:00.000Z' },
        { name: 'day', limit: 10_000, used: 0, remaining: 10_000, resetsAt: '2026-11-21T00:00:00.000Z' },
      ],
      bans: [],
      lastUsedAt: null,
      days: [
        { date: '2026-11-20', requests: 0, refused: 0 },
        { date: '2026-11-19', requests: 0, refused: 0 },
      ],
    }),
  ],
  [
    'rename a client',
    ({ client }) => [patch(`/admin/clients/${client}`, `client rename ${client} --name New`)],
    () => ({ name: 'New', plan: 'pro', perMinute: 300 }),
  ],
  [
    'move a client to another plan',
    ({ client }) => [patch(`/admin/clients/${client}`, `client set-plan ${client} --plan business`)],
    () => ({ name: 'Shop', plan: 'business', perMinute: 1_000, perDay: 100_000 }),
  ],
  [
    'keep the limit that is not named',
    ({ big }) => [patch(`/admin/clients/${big}`, `client set-plan ${big} --plan enterprise --per-day 99`)],
    () => ({ plan: 'enterprise', perMinute: 10, perDay: 99 }),
  ],
  ['suspend a client', (ids) => [suspend(ids)], () => ({ name: 'Shop', suspendedAt: AT })],
  [
    'refuse to suspend twice',
    (ids) => [suspend(ids), suspend(ids)],
    /has been suspended since 2026-11-20T12:00:10\.250Z\.$/,
  ],
  [
    'resume a client',
    (ids) => [suspend(ids), post(`/admin/clients/${ids.client}/resume`, `client resume ${ids.client}`)],
    () => ({ suspendedAt: null }),
  ],
  [
    'refuse to resume what is not suspended',
    ({ client }) => [post(`/admin/clients/${client}/resume`, `client resume ${client}`)],
    /^The client .+ is not suspended\.$/,
  ],
  [
    'delete a client with its keys',
    ({ client, key }) => [
      { args: ['client', 'delete', client], method: 'DELETE', path: `/admin/clients/${client}` },
      get(`/admin/keys/${key}`, `key show ${key}`),
    ],
    /^There is no key /,
  ],
  [
    'issue a key',
    ({ client }) => [
      post(
        '/admin/keys',
        `key issue --client ${client} --scopes pets:write,pets:read --label Till --expires 2h`,
      ),
    ],
    ({ client }) => ({
      clientId: client,
      label: 'Till',
      scopes: ['pets:read', 'pets:write'],
      createdAt: AT,
      expiresAt: '2026-11-20T14:00:10.250Z',
      revokedAt: null,
      lastUsedAt: null,
      replacedBy: null,
    }),
  ],
  [
    'issue a key with what is granted by default',
    ({ client }) => [post('/admin/keys', `key issue --client ${client}`)],
    () => ({ scopes: GRANTED_BY_DEFAULT, label: null, expiresAt: null }),
  ],
  [
    'refuse a key for what is no id',
    () => [post('/admin/keys', 'key issue --client me')],
    // The command line accepts names as well.
    /^This must be a UUID in lower case\.$|^There is no client me\. Give the exact name/,
  ],
  [
    'refuse unknown scopes, every one',
    ({ client }) => [post('/admin/keys', `key issue --client ${client} --scopes a,pets:read,b`)],
    new RegExp(`^There is no scope "a"\\. The scopes are ${ALL.join(', ')}\\.\nThere is no scope "b"`),
  ],
  [
    'list the keys of a client',
    ({ client }) => [get(`/admin/keys?client=${client}`, `key list --client ${client}`)],
    ({ client, key }) => [expect.objectContaining({ id: key, clientId: client, label: 'First' })],
  ],
  [
    'label a key',
    ({ key }) => [patch(`/admin/keys/${key}`, `key update ${key} --label Other`)],
    () => ({ label: 'Other', expiresAt: '2026-11-21T12:00:10.250Z' }),
  ],
  [
    'refuse to change nothing of a key',
    ({ key }) => [patch(`/admin/keys/${key}`, `key update ${key}`)],
    /^Name at least one change: (?:label, expires|--label, --expires)\.$/,
  ],
  [
    'bring the end of a key forward',
    ({ key }) => [patch(`/admin/keys/${key}`, `key update ${key} --expires 1h`)],
    () => ({ label: 'First', expiresAt: '2026-11-20T13:00:10.250Z' }),
  ],
  [
    'refuse to put the end of a key off',
    ({ key }) => [patch(`/admin/keys/${key}`, `key update ${key} --expires 25h`)],
    /^The key expires at 2026-11-21T12:00:10\.250Z\. The expiry can only be brought forward\. For a later expiry, issue a new key\.$/,
  ],
  [
    'rotate with another lifetime of the new key',
    ({ key }) => [post(`/admin/keys/${key}/rotate`, `key rotate ${key} --expires 5h`)],
    () => ({ expiresAt: '2026-11-20T17:00:10.250Z' }),
  ],
  [
    'rotate a key: same client, scopes, label and lifetime',
    (ids) => [rotate(ids)],
    ({ client }) => ({
      clientId: client,
      label: 'First',
      scopes: ['pets:read'],
      createdAt: AT,
      expiresAt: '2026-11-21T12:00:10.250Z',
      replacedBy: null,
    }),
  ],
  [
    'rotate: the old key ends after the grace',
    (ids) => [rotate(ids, '1h'), get(`/admin/keys/${ids.key}`, `key show ${ids.key}`)],
    () => ({ expiresAt: '2026-11-20T13:00:10.250Z', replacedBy: expect.any(String) }),
  ],
  [
    'rotate: the old key never outlives its own end',
    (ids) => [rotate(ids, '30d'), get(`/admin/keys/${ids.key}`, `key show ${ids.key}`)],
    () => ({ expiresAt: '2026-11-21T12:00:10.250Z' }),
  ],
  [
    'rotate with grace 0: the old key ends at once',
    (ids) => [rotate(ids, '0'), get(`/admin/keys/${ids.key}`, `key show ${ids.key}`)],
    () => ({ expiresAt: AT }),
  ],
  [
    'refuse to rotate twice',
    (ids) => [rotate(ids), rotate(ids)],
    /was already rotated; its successor is [\w-]+\.$/,
  ],
  [
    'refuse to rotate a key that was ended at once by a rotation',
    (ids) => [rotate(ids, '0'), rotate(ids)],
    /^The key .+ was revoked at 2026-11-20T12:00:10/,
  ],
  ['revoke a key', (ids) => [revoke(ids)], ({ key }) => ({ id: key, revokedAt: AT })],
  ['refuse to revoke twice', (ids) => [revoke(ids), revoke(ids)], /^The key .+ was revoked at /],
  [
    'refuse to revoke what is not there',
    () => [post(`/admin/keys/${NOBODY}/revoke`, `key revoke ${NOBODY}`)],
    /^There is no key 0{8}-/,
  ],
  [
    'unban a key',
    ({ key }) => [post(`/admin/keys/${key}/unban`, `key unban ${key}`)],
    ({ key }) => ({ id: key }),
  ],
  [
    'list what was changed of a key, latest first',
    (ids) => [revoke(ids), get(`/admin/audit?key=${ids.key}`, `audit list --key ${ids.key}`)],
    ({ client, key }) => [
      expect.objectContaining({ action: 'api_key.revoked', clientId: client, keyId: key, at: AT }),
      expect.objectContaining({ action: 'api_key.issued', clientId: client, keyId: key, actor: 'service' }),
    ],
  ],
];

const service = await openForAll(UNLIMITED);
const { key: adminKey } = await service.issueKey({ scopes: ALL });

async function prepare({ app }: TestService): Promise<Ids> {
  const clients = app.get(ClientsService);
  const { id: client } = await clients.create({ name: 'Shop', plan: 'pro' }, SERVICE_ITSELF);
  const { id: big } = await clients.create(
    { name: 'Big', plan: 'enterprise', perMinute: 10, perDay: 20 },
    SERVICE_ITSELF,
  );
  const { apiKey } = await app
    .get(KeyIssuingService)
    .issue({ clientId: client, scopes: ['pets:read'], label: 'First', expires: 86_400_000 }, SERVICE_ITSELF);
  return { client, big, key: apiKey.id };
}

describe('command line and HTTP do the same', () => {
  it.each(CASES)('%s', async (_, orders, expected) => {
    const ways = {
      'command line': (order: Operation) => onCommandLine(service, order),
      HTTP: (order: Operation) => overHttp(service, adminKey, order),
    };
    for (const [way, run] of Object.entries(ways)) {
      const ids = await prepare(service);
      let outcome: Outcome | undefined;
      for (const order of orders(ids)) {
        expect(outcome?.done ?? true, `${way}: ${outcome?.reasons.join(' ')}`).toBe(true);
        outcome = await run(order);
      }
      if (expected instanceof RegExp) {
        expect([way, outcome?.done, outcome?.reasons.join('\n')]).toEqual([
          way,
          false,
          expect.stringMatching(expected),
        ]);
      } else {
        expect(outcome?.reasons, way).toEqual([]);
        const wanted = expected(ids);
        expect(outcome?.document, way).toEqual(
          Array.isArray(wanted) ? wanted : expect.objectContaining(wanted),
        );
      }
    }
  });
});

describe('the scope admin', () => {
  it.each([
    ['issue', (ids: Ids) => post('/admin/keys', `key issue --client ${ids.client} --scopes pets:write`)],
    ['issue by default', (ids: Ids) => post('/admin/keys', `key issue --client ${ids.client}`)],
    ['rotate', (ids: Ids) => rotate(ids)],
  ])('cannot pass on what the key does not hold: %s', async (_, orderOf) => {
    const ids = await prepare(service);
    const { key } = await service.issueKey({ scopes: ['admin'] });
    const { method, path, json } = orderOf(ids);
    const { status, body, headers } = await service.request(method, path, { key, json });
    expect([status, body.code]).toEqual([403, 'scope_not_held']);
    const [, lacking = ''] =
      /^Bearer realm="petstore", error="insufficient_scope", scope="([^"]+)"$/.exec(
        headers.get('www-authenticate') ?? '',
      ) ?? [];
    expect(GRANTED_BY_DEFAULT).toEqual(expect.arrayContaining(lacking.split(' ')));
    const remaining = await service.app.get(ApiKeysService).list({ limit: 10 }, { clientId: ids.client });
    expect(remaining.items).toHaveLength(1);
  });
});

describe('bodies and parameters are validated like any other', () => {
  it.each([
    ['POST', '/admin/clients', { name: 'A', plan: 'pro', limit: 5 }, ['limit unknown_field']],
    ['POST', '/admin/clients', { name: 5, plan: 'gold' }, ['name not_a_string', 'plan not_allowed_value']],
    [
      'POST',
      '/admin/clients',
      '{"name":"A","plan":"enterprise","perMinute":1.0,"perDay":1e3}',
      ['perMinute not_an_integer', 'perDay not_an_integer'],
    ],
    [
      'POST',
      '/admin/clients',
      { name: 'A', plan: 'enterprise', perMinute: 0, perDay: 9e18 },
      ['perMinute out_of_range', 'perDay out_of_range'],
    ],
    ['POST', '/admin/clients', [], [' not_an_object']],
    ['PATCH', `/admin/clients/${NOBODY}`, {}, [' required']],
    ['POST', `/admin/keys/abc/rotate`, { grace: '-1h' }, ['grace not_a_duration', 'keyId not_a_uuid']],
    ['POST', '/admin/keys', { clientId: NOBODY, scopes: [] }, ['scopes not_a_list_of_names']],
    ['POST', '/admin/keys', { clientId: NOBODY, expires: '0' }, ['expires not_a_duration']],
    ['POST', '/admin/keys', { clientId: NOBODY, label: null }, ['label not_a_string']],
    ['POST', `/admin/keys/${NOBODY}/revoke?force=yes`, undefined, ['force not_a_flag']],
    ['GET', '/admin/clients?limit=101', undefined, ['limit out_of_range']],
    ['GET', '/admin/clients?cursor=abc', undefined, ['cursor broken_cursor']],
    ['GET', '/admin/usage?days=91', undefined, ['days out_of_range']],
    ['GET', '/admin/audit?client=1&key=2', undefined, ['client not_a_uuid', 'key not_a_uuid']],
  ] as const)('%s %s %j', async (method, path, json, expected) => {
    const response = await service.request(method, path, { key: adminKey, json });
    expect([response.status, response.body.code]).toEqual([400, 'validation_failed']);
    expect(faultsOf(response)).toEqual(expected);
  });

  it('a rotation needs no body', async () => {
    const { key } = await prepare(service);
    expect((await service.request('POST', `/admin/keys/${key}/rotate`, { key: adminKey })).status).toBe(201);
  });
});
