// (c) Fastify 5 and better-sqlite3: the same rows by prepared statements and a compiled serializer, without keys or quotas.
import Database from 'better-sqlite3';
import Fastify from 'fastify';

const database = new Database(process.env.DATABASE_FILE);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
const columns = 'id, name, category_id AS categoryId, status';
const all = database.prepare(`SELECT ${columns} FROM pets WHERE id >= ? ORDER BY id LIMIT ?`);
const ofStatus = database.prepare(
  `SELECT ${columns} FROM pets WHERE status = ? AND id >= ? ORDER BY id LIMIT ?`,
);
const byId = database.prepare(`SELECT ${columns} FROM pets WHERE id = ?`);
const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');

const pet = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const app = Fastify();
app.get('/v1/pets', { schema: { response: { 200: { type: 'array', items: pet } } } }, ({ query }) => {
  const limit = Number(query.limit ?? 20);
  const from = Number(query.from ?? 0);
  return query.status === undefined ? all.all(from, limit) : ofStatus.all(query.status, from, limit);
});
app.get('/v1/pets/:petId', { schema: { response: { 200: pet } } }, ({ params }) =>
  byId.get(Number(params.petId)),
);
app.post('/v1/pets', { schema: { response: { 201: pet } } }, ({ body }, reply) => {
  const { name, categoryId, status = 'available' } = body;
  const { lastInsertRowid } = insert.run(name, categoryId, status);
  reply.code(201);
  return { id: Number(lastInsertRowid), name, categoryId, status };
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
