// The database of peers/fastify-equal.mjs: PostgreSQL if DATABASE_URL is set, and otherwise the SQLite file DATABASE_FILE.
const file =
  process.env.DATABASE_URL === undefined ? './equal-sqlite-store.mjs' : './equal-postgres-store.mjs';

/** These functions return values with SQLite, and promises with PostgreSQL. */
export const { add, animal, animalsAfter, keyWithDigest } = await import(file);

/** Calls `next` with the result of a read: immediately for a value, asynchronously for a promise. */
export function whenRead(read, next) {
  return read instanceof Promise ? later(read, next) : next(read);
}

async function later(read, next) {
  return next(await read);
}
