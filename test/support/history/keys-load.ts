import { setTimeout as pause } from 'node:timers/promises';
import type { Caller, Key, Sent, Way } from './caller.js';
import { now } from './history.js';

/** The plans by their limits, as configured in the deployment. */
const PLANS = { free: 50_001, pro: 50_002, business: 50_003 } as const;
/** Maximum number of keys in use: the newest, most of which are no longer valid. */
const IN_USE = 6;
/** Pause after a refusal, in milliseconds. A key that keeps sending would be banned. */
const AFTER_REFUSAL_MS = 5_000;

/** Adds a resource over HTTP. Returns the body if the request was acknowledged. */
async function made<T>(
  caller: Caller,
  path: string,
  json: unknown,
  subjects: (body: T) => [string, string][],
) {
  const start = now();
  const response = await caller.send({ method: 'POST', path, json, allowed: [201] });
  if (response.status !== 201) return undefined;
  const body = JSON.parse(response.text) as T;
  for (const [subject, value] of subjects(body)) caller.wrote(subject, value, start, response);
  return body;
}

const issueKey = (caller: Caller, clientId: string) =>
  made<Key>(caller, '/admin/keys', { clientId, scopes: ['pets:read'] }, ({ id }) => [[`key:${id}`, 'works']]);

/** A client that issues keys, invalidates each in every possible way, and continues with the next key. */
export function keysOperator(caller: Caller, clientId: string, keys: Key[]): () => Promise<void> {
  const { random } = caller;

  async function expire(id: string): Promise<void> {
    const [start, path] = [now(), `/admin/keys/${id}`];
    const changed = await caller.send({ method: 'PATCH', path, json: { expires: '2s' }, allowed: [200] });
    const { expiresAt } = (changed.status === 200 ? JSON.parse(changed.text) : {}) as { expiresAt?: string };
    const end = expiresAt === undefined ? undefined : Date.parse(expiresAt);
    caller.history.writes.push({ subject: `key:${id}`, start: end ?? start, via: 'time', end });
  }

  return async () => {
    const key = await issueKey(caller, clientId);
    if (key) keys.unshift(key);
    keys.length = Math.min(keys.length, IN_USE);
    await pause(random.between(100, 600));
    if (!key) return;
    const post = (path: string, json?: unknown) => ({
      via: 'http' as const,
      sent: { method: 'POST', path: `/admin/keys/${key.id}/${path}`, json, allowed: [200, 201] },
    });
    const set = `revoked_at = '${new Date().toISOString()}'`;
    // A key that was rotated or expires is not invalidated in another way.
    if (caller.deployment.parts.setClock === undefined && random.between(0, 1) < 0.2) await expire(key.id);
    else
      await caller.change(
        `key:${key.id}`,
        undefined,
        post('revoke'),
        post('rotate', { grace: '0' }),
        { via: 'sql', statement: `UPDATE api_keys SET ${set} WHERE id = '${key.id}'`, how: 'late' },
        { via: 'command', args: ['key', 'revoke', key.id, '--yes'] },
      );
  };
}

/** A random address: requests with an invalid key are counted by address. */
const fromAnywhere = ({ random }: Caller) => ({
  'x-forwarded-for': `10.0.${Math.floor(random.between(0, 250))}.${Math.floor(random.between(0, 250))}`,
});

/** A client that uses keys, some of which are no longer valid, and keys of clients that change. */
export function keysUser(caller: Caller, keys: readonly Key[], changing: Changing): () => Promise<void> {
  const use = ({ key }: Key, allowed: readonly number[]) =>
    caller.send({ path: '/v1/pets?limit=1', key, headers: fromAnywhere(caller), allowed });
  return async () => {
    const key = keys[Math.floor(caller.random.between(0, keys.length))];
    if (key !== undefined) {
      const used = await use(key, [200, 401]);
      if (used.status === 200) caller.saw(`key:${key.id}`, 'works', used, 'a request with a key');
      if (used.status === 401) caller.saw(`key:${key.id}`, undefined, used, 'a request with a key');
    }
    const client = changing.key;
    await pause(caller.random.between(50, 300));
    if (client === undefined) return;
    const used = await use(client, [200, 403]);
    const subject = client.clientId;
    if (used.status === 200) {
      caller.saw(`state:${subject}`, 'works', used, 'a request of a client');
      caller.saw(
        `limit:${subject}`,
        String(used.headers.get('x-ratelimit-limit')),
        used,
        'a request of a client',
      );
    }
    if (used.status === 403) caller.saw(`state:${subject}`, 'suspended', used, 'a request of a client');
  };
}

/** A client whose state and plan change; undefined until it is created. */
export interface Changing {
  key?: Key | undefined;
}

/** A client that suspends and resumes another client and changes its plan, in every possible way. */
export function clientChanger(caller: Caller, changing: Changing): () => Promise<void> {
  const { random } = caller;

  async function create(): Promise<Key | undefined> {
    const client = await made<{ id: string }>(
      caller,
      '/admin/clients',
      { name: 'History', plan: 'free' },
      ({ id }) => [
        [`state:${id}`, 'works'],
        [`limit:${id}`, String(PLANS.free)],
      ],
    );
    return client && issueKey(caller, client.id);
  }

  /** Makes a change. An unacknowledged change may still be executed later, so the load continues with another client. */
  async function change(subject: string, value: string, sent: Sent, sql: string, ...args: string[]) {
    if (changing.key === undefined) return;
    const request: Way = { via: 'http', sent };
    const ways: Way[] = [request, request, { via: 'sql', statement: sql }, { via: 'command', args }];
    if (!(await caller.change(subject, value, ...ways))) changing.key = undefined;
    await pause(random.between(100, 900));
  }

  return async () => {
    const { clientId: id } = (changing.key ??= await create()) ?? {};
    if (id === undefined) return pause(200);
    const path = `/admin/clients/${id}`;
    const set = (what: string) => `UPDATE clients SET ${what} WHERE id = '${id}'`;
    const plan = random.pick<keyof typeof PLANS>(['free', 'pro', 'business']);
    const moved = { method: 'PATCH', path, json: { plan }, allowed: [200] };
    const limit = String(PLANS[plan]);
    await change(
      `limit:${id}`,
      limit,
      moved,
      set(`plan = '${plan}'`),
      'client',
      'set-plan',
      id,
      '--plan',
      plan,
    );
    const [at, post] = [new Date().toISOString(), { method: 'POST', allowed: [200] }];
    const [suspended, resumed] = [
      { ...post, path: `${path}/suspend` },
      { ...post, path: `${path}/resume` },
    ];
    await change(
      `state:${id}`,
      'suspended',
      suspended,
      set(`suspended_at = '${at}'`),
      'client',
      'suspend',
      id,
    );
    await change(`state:${id}`, 'works', resumed, set('suspended_at = NULL'), 'client', 'resume', id);
  };
}

/** Clients that share a small limit and send more requests than it allows, to all instances in turn. */
export class Overdrawing {
  private turns = 0;
  private quietUntil = 0;

  constructor(
    private readonly key: Key,
    private readonly instances: number,
  ) {}

  /** One of these clients. */
  reader(caller: Caller): () => Promise<void> {
    return async () => {
      await pause(caller.random.between(100, 200));
      if (now() < this.quietUntil) return;
      this.turns += 1;
      const on = this.turns % this.instances;
      const response = await caller.send(
        { path: '/v1/pets?limit=1', key: this.key.key, allowed: [200, 429] },
        on,
      );
      const number = (header: string) => Number(response.headers.get(`x-ratelimit-${header}`));
      const { start, end, status } = response;
      const [limit, remaining, reset] = [number('limit'), number('remaining'), number('reset') * 1_000];
      caller.history.counted.push({ start, end, on, status, limit, remaining, reset });
      if (status === 429) this.quietUntil = end + AFTER_REFUSAL_MS;
    };
  }
}
