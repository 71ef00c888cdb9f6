// The asynchronous counterpart of peers/equal-sqlite-store.mjs for PostgreSQL: pg with a pool and prepared statements. Commits are durable.
import pg from 'pg';

const POOL_SIZE = 10;

/** Returns 64-bit integers as bigint, because numbers beyond 2^53 would be rounded. */
pg.types.setTypeParser(pg.types.builtins.INT8, BigInt);
/** Returns timestamps as text, as SQLite does. */
pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => text);
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
pool.on('error', (error) => console.error(error));

const COLUMNS = 'id, name, category_id AS "categoryId", status';
const STATEMENTS = {
  byId: `SELECT ${COLUMNS} FROM pets WHERE id = $1`,
  all: `SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
  ofStatus: `SELECT ${COLUMNS} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
  insert: `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
  keyOfDigest: `SELECT api_keys.id AS "keyId", api_keys.scopes, api_keys.expires_at AS "expiresAt", clients.id AS "clientId", clients.plan,
      clients.per_minute AS "perMinute", clients.per_day AS "perDay"
    FROM api_keys JOIN clients ON clients.id = api_keys.client_id
    WHERE api_keys.digest = $1 AND api_keys.revoked_at IS NULL AND clients.suspended_at IS NULL`,
};

async function rows(name, values) {
  return (await pool.query({ name, text: STATEMENTS[name], values })).rows;
}

export const animal = async (id) => (await rows('byId', [id]))[0];

export function animalsAfter(id, limit, status) {
  return status === undefined ? rows('all', [id, limit + 1]) : rows('ofStatus', [status, id, limit + 1]);
}

export const add = async ({ name, categoryId, status }) =>
  (await rows('insert', [name, categoryId, status]))[0];

export const keyWithDigest = async (digest) => (await rows('keyOfDigest', [digest]))[0];
