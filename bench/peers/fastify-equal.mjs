// A Fastify 5 service that does the same work per request as the service: API keys by digest, scopes, minute and day quotas with headers,
// validation with ajv, exact 64-bit integers, a compiled serializer, ETag, pagination, the Error body, a line in a log file, a histogram, and
// durable commits on SQLite or PostgreSQL. It follows Fastify's documentation and shares no code with the service.
import { createHash, randomUUID } from 'node:crypto';
import Fastify, { LogController } from 'fastify';
import { pino } from 'pino';
import { Histogram, collectDefaultMetrics, register } from 'prom-client';
import { admit } from './equal-clients.mjs';
import { errorHandler, errorSchema, notFoundHandler, refusal } from './equal-errors.mjs';
import { exactJson, listQuery, newPet, pet, petParams, validatorCompiler } from './equal-schemas.mjs';
import { add, animal, animalsAfter, whenRead } from './equal-store.mjs';

const WELL_FORMED_ID = /^[A-Za-z0-9._-]{1,128}$/;
const DEPRECATION = {
  deprecation: '@1795132800',
  sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
  link: '</docs#/Pets/getPet>; rel="deprecation"; type="text/html"',
};

const log = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime },
  pino.destination({ dest: process.env.LOG_FILE, sync: false }),
);
collectDefaultMetrics();
const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the request’s arrival to the end of its response, in seconds.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const app = Fastify({
  loggerInstance: log,
  // Replaces Fastify's two log lines per request with the one that is written below.
  logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
  keepAliveTimeout: 72_000,
  genReqId: ({ headers }) => {
    const offered = headers['x-request-id'];
    return offered !== undefined && WELL_FORMED_ID.test(offered) ? offered : randomUUID();
  },
});
app.setValidatorCompiler(validatorCompiler);
app.setErrorHandler(errorHandler);
app.setNotFoundHandler(notFoundHandler);
app.removeContentTypeParser(['application/json', 'text/plain']);
app.addContentTypeParser(
  'application/json',
  { parseAs: 'string' },
  exactJson(app.getDefaultJsonParser('error', 'error')),
);
app.decorateRequest('caller', undefined);

app.addHook('onRequest', (request, reply, done) => {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  done();
});
app.addHook('onResponse', (request, reply, done) => {
  const { method, caller } = request;
  const route = request.routeOptions.url ?? 'unmatched';
  const status = reply.statusCode;
  const ms = Math.round(reply.elapsedTime * 1_000) / 1_000;
  durations.observe({ method, route, status }, ms / 1_000);
  request.log.info(
    { clientId: caller?.clientId, method, route, status, durationMs: ms },
    `${method} ${route} ${status} ${Math.round(ms)} ms`,
  );
  done();
});

app.get('/metrics', async (_request, reply) => {
  reply.type(register.contentType);
  return register.metrics();
});

await app.register(
  (v1, _options, done) => {
    v1.addHook('onRequest', announceRemoval);
    v1.addHook('onRequest', admit);
    v1.get(
      '/pets',
      optionsOf('pets:read', { querystring: listQuery }, { 200: { type: 'array', items: pet } }),
      list,
    );
    v1.get(
      '/pets/:petId',
      optionsOf('pets:read', { params: petParams }, { 200: pet }, { isDeprecated: true }),
      one,
    );
    v1.post('/pets', optionsOf('pets:write', { body: newPet }, { 201: pet }), create);
    done();
  },
  { prefix: '/v1' },
);

/** The options of a route: the required scope, and the schemas for validation and serialization. Reads support conditional requests. */
function optionsOf(scope, validated, response, more = {}) {
  const schema = { ...validated, response: { ...response, '4xx': errorSchema, '5xx': errorSchema } };
  return { schema, config: { scope, ...more }, ...(scope === 'pets:read' ? { onSend: tag } : {}) };
}

function list({ query: { limit, status, cursor } }, reply) {
  const read = animalsAfter(cursor === undefined ? 0n : positionOf(cursor), limit, status);
  return whenRead(read, (animals) => sendPage(animals, { limit, status }, reply));
}

function sendPage(animals, { limit, status }, reply) {
  const first = `/v1/pets?limit=${limit}${status === undefined ? '' : `&status=${status}`}`;
  let link = `<${first}>; rel="first"`;
  if (animals.length > limit) {
    animals.length = limit;
    link = `<${first}&cursor=${cursorOf(animals[limit - 1].id)}>; rel="next", ${link}`;
  }
  reply.header('link', link);
  reply.send(animals);
}

function cursorOf(id) {
  return Buffer.from(String(id)).toString('base64url');
}

function positionOf(cursor) {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (/^\d{1,19}$/.test(text)) return BigInt(text);
  throw refusal(400, 'invalid_cursor', 'The cursor is not one of this list.');
}

function announceRemoval(request, reply, done) {
  if (request.routeOptions.config.isDeprecated) reply.headers(DEPRECATION);
  done();
}

function one({ params }, reply) {
  return whenRead(animal(BigInt(params.petId)), (found) => {
    if (found === undefined)
      throw refusal(404, 'pet_not_found', `There is no animal with the id ${params.petId}.`);
    reply.send(found);
  });
}

function create({ body }, reply) {
  return whenRead(add(body), (added) => {
    reply.code(201);
    reply.header('location', `/v1/pets/${added.id}`);
    reply.send(added);
  });
}

/** Sets the ETag of a response, and sends 304 if the client already has it. */
function tag(request, reply, payload, done) {
  if (reply.statusCode !== 200) return done(null, payload);
  const link = reply.getHeader('link') ?? '';
  const hash = createHash('sha1').update(link).update('\n').update(payload).digest('base64url');
  const etag = `"${hash.slice(0, 22)}"`;
  reply.header('etag', etag);
  reply.header('cache-control', 'private, no-cache');
  reply.header('vary', 'Authorization');
  const known = request.headers['if-none-match'];
  if (known === undefined || !known.split(/\s*,\s*/).includes(etag)) return done(null, payload);
  reply.code(304);
  return done(null, '');
}

await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.({ port: app.server.address().port });
process.once('SIGTERM', () => void app.close().finally(() => process.exit()));
