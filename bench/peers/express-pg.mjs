// Express 5 and pg with the main features of the service: an API key, two quota windows, validation, prepared statements.
/* oxlint-disable oxc/no-async-endpoint-handlers, typescript/consistent-return -- Express 5 handles rejections and ignores return values */
import express from 'express';
import { STATUSES, add, animal, clientOf, count, list } from './pg-store.mjs';

const app = express();
const refuse = (response, status, code) => response.status(status).json({ code, message: code, status });

app.use('/v1', async (request, response, next) => {
  const client = await clientOf(request.headers.authorization);
  if (!client) return refuse(response, 401, 'invalid_api_key');
  const { isAdmitted, headers } = count(client);
  response.set(headers);
  if (!isAdmitted) return refuse(response, 429, 'rate_limit_exceeded');
  next();
});
app.get('/v1/pets', async (request, response) => {
  const { limit = '20', status } = request.query;
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 100)
    return refuse(response, 400, 'validation_failed');
  if (status !== undefined && !STATUSES.includes(status)) return refuse(response, 400, 'validation_failed');
  response.json(await list(Number(limit), status));
});
app.get('/v1/pets/:petId', async (request, response) => {
  if (!/^-?\d{1,19}$/.test(request.params.petId)) return refuse(response, 400, 'validation_failed');
  const found = await animal(request.params.petId);
  if (!found) return refuse(response, 404, 'pet_not_found');
  response.json(found);
});
app.post('/v1/pets', express.json(), async (request, response) => {
  const { name, categoryId, status = 'available' } = request.body ?? {};
  const isValid =
    typeof name === 'string' &&
    name.trim() !== '' &&
    name.length <= 255 &&
    Number.isSafeInteger(categoryId) &&
    STATUSES.includes(status);
  if (!isValid) return refuse(response, 400, 'validation_failed');
  const added = await add({ name, categoryId, status });
  response.status(201).location(`/v1/pets/${added.id}`).json(added);
});
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
