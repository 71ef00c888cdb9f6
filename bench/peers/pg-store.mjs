// The work that peers/express-pg.mjs does for a request outside the framework: API keys by digest, minute and day quotas, and prepared
// statements. Keys are cached for five seconds, and counts are held in memory.
import { createHash } from 'node:crypto';
import pg from 'pg';

const REMEMBERED_MS = 5_000;
const WINDOWS = [
  ['minute', 60_000],
  ['day', 86_400_000],
];

// Returns an int64 as a JSON number, as the service does. All ids in this benchmark are small enough.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
pool.on('error', (error) => console.error(error));

const COLUMNS = 'id, name, category_id AS "categoryId", status';
const STATEMENTS = {
  all: `SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT $1`,
  ofStatus: `SELECT ${COLUMNS} FROM pets WHERE status = $1 ORDER BY id LIMIT $2`,
  byId: `SELECT ${COLUMNS} FROM pets WHERE id = $1`,
  insert: `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
  key: `SELECT clients.id, clients.per_minute AS minute, clients.per_day AS day FROM api_keys
        JOIN clients ON clients.id = api_keys.client_id WHERE api_keys.digest = $1 AND api_keys.revoked_at IS NULL`,
};

async function rows(name, values) {
  return (await pool.query({ name, text: STATEMENTS[name], values })).rows;
}

export const STATUSES = ['available', 'pending', 'sold'];

export const list = (limit, status) =>
  status === undefined ? rows('all', [limit]) : rows('ofStatus', [status, limit]);
export const animal = async (id) => (await rows('byId', [id]))[0];
export const add = async ({ name, categoryId, status = 'available' }) =>
  (await rows('insert', [name, categoryId, status]))[0];

const remembered = new Map();
const counts = new Map();

/** The client with the key in an `Authorization` header; undefined if the key is not valid. */
export async function clientOf(authorization = '') {
  const [, key] = /^Bearer (\S+)$/.exec(authorization) ?? [];
  if (key === undefined) return undefined;
  const digest = createHash('sha256').update(key).digest('hex');
  const known = remembered.get(digest);
  if (known !== undefined && known.until > Date.now()) return known.client;
  const [client] = await rows('key', [digest]);
  if (client) remembered.set(digest, { client, until: Date.now() + REMEMBERED_MS });
  return client;
}

/** Counts a request of a client in both windows. Returns the headers and whether the request is admitted. */
export function count(client) {
  const now = Date.now();
  const used = WINDOWS.map(([name, length]) => {
    const window = Math.floor(now / length);
    let slot = counts.get(`${client.id}/${name}`);
    if (slot?.window !== window) counts.set(`${client.id}/${name}`, (slot = { window, used: 0 }));
    return { slot, limit: client[name], resets: Math.ceil(((window + 1) * length) / 1_000) };
  });
  const isAdmitted = used.every(({ slot, limit }) => slot.used < limit);
  if (isAdmitted) for (const { slot } of used) slot.used += 1;
  const [least] = used.toSorted((a, b) => a.limit - a.slot.used - (b.limit - b.slot.used));
  return {
    isAdmitted,
    headers: {
      'X-RateLimit-Limit': String(least.limit),
      'X-RateLimit-Remaining': String(least.limit - least.slot.used),
      'X-RateLimit-Reset': String(least.resets),
    },
  };
}
