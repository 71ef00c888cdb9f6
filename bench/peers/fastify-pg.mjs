// Fastify 5 and pg, doing what the service does: an API key, two windows, validation by ajv, compiled serializers, prepared statements.
import Fastify from 'fastify';
import { STATUSES, add, animal, clientOf, count, list } from './pg-store.mjs';

const status = { type: 'string', enum: STATUSES };
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
const refusal = (statusCode, code) => Object.assign(new Error(code), { statusCode, code });

app.addHook('onRequest', async (request, reply) => {
  const client = await clientOf(request.headers.authorization);
  if (!client) throw refusal(401, 'invalid_api_key');
  const { isAdmitted, headers } = count(client);
  reply.headers(headers);
  if (!isAdmitted) throw refusal(429, 'rate_limit_exceeded');
});
const listSchema = {
  querystring: {
    type: 'object',
    properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, status },
  },
  response: { 200: { type: 'array', items: pet } },
};
app.get('/v1/pets', { schema: listSchema }, ({ query }) => list(query.limit, query.status));
const oneSchema = {
  params: { type: 'object', properties: { petId: { type: 'string', pattern: String.raw`^-?\d{1,19}$` } } },
  response: { 200: pet },
};
app.get('/v1/pets/:petId', { schema: oneSchema }, async ({ params }) => {
  const found = await animal(params.petId);
  if (!found) throw refusal(404, 'pet_not_found');
  return found;
});
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { type: 'integer' },
    status,
  },
};
app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async ({ body }, reply) => {
  const added = await add(body);
  reply.code(201).header('location', `/v1/pets/${added.id}`);
  return added;
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
