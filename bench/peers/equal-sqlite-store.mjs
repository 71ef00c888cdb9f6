// The SQLite database of peers/fastify-equal.mjs: better-sqlite3 with prepared statements. Commits are durable when they are acknowledged, as
// in the service.
import Database from 'better-sqlite3';

const database = new Database(process.env.DATABASE_FILE, { fileMustExist: true });
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('foreign_keys = ON');

/** Returns 64-bit integers as bigint, because numbers beyond 2^53 would be rounded. */
const prepare = (sql) => database.prepare(sql).safeIntegers();

const COLUMNS = 'id, name, category_id AS categoryId, status';
const byId = prepare(`SELECT ${COLUMNS} FROM pets WHERE id = ?`);
const all = prepare(`SELECT ${COLUMNS} FROM pets WHERE id > ? ORDER BY id LIMIT ?`);
const ofStatus = prepare(`SELECT ${COLUMNS} FROM pets WHERE status = ? AND id > ? ORDER BY id LIMIT ?`);
const insert = prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');
const keyOfDigest = database.prepare(
  `SELECT api_keys.id AS keyId, api_keys.scopes, api_keys.expires_at AS expiresAt, clients.id AS clientId, clients.plan,
     clients.per_minute AS perMinute, clients.per_day AS perDay
   FROM api_keys JOIN clients ON clients.id = api_keys.client_id
   WHERE api_keys.digest = ? AND api_keys.revoked_at IS NULL AND clients.suspended_at IS NULL`,
);

/** The animal with this id, or undefined. */
export const animal = (id) => byId.get(id);

/** At most `limit` + 1 animals after an id. An animal beyond the limit shows that there is another page. */
export function animalsAfter(id, limit, status) {
  return status === undefined ? all.all(id, limit + 1) : ofStatus.all(status, id, limit + 1);
}

/** Adds an animal, which is on disk when the function returns. */
export function add({ name, categoryId, status }) {
  const { lastInsertRowid } = insert.run(name, categoryId, status);
  return { id: lastInsertRowid, name, categoryId, status };
}

/** The key with this SHA-256 digest and its client; undefined if the key is revoked or the client is suspended. */
export const keyWithDigest = (digest) => keyOfDigest.get(digest);
