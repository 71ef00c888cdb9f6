// The database of peers/fastify-equal.mjs: PostgreSQL at DATABASE_URL, or else the SQLite file DATABASE_FILE.
const file =
  process.env.DATABASE_URL === undefined ? './equal-sqlite-store.mjs' : './equal-postgres-store.mjs';

/** What is read and written: values from SQLite, promises from PostgreSQL. */
export const { add, animal, animalsAfter, keyWithDigest } = await import(file);

/** Goes on with what was read: at once with a value, later with a promise. */
export function whenRead(read, next) {
  return read instanceof Promise ? later(read, next) : next(read);
}

async function later(read, next) {
  return next(await read);
}
