// Checks, before the benchmark, that the service and peers/fastify-equal.mjs do the same work: compares their responses to the same requests,
// and checks the rows, log lines and metrics that result.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Headers whose values differ between responses. Only their presence is compared. */
const VARYING = new Set([
  'date',
  'etag',
  'x-request-id',
  'ratelimit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
]);

const json = (body) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Requests by name. Each is sent to both servers, in this order. */
const CASES = {
  'a list': ['/v1/pets?limit=20'],
  'a list of one status': ['/v1/pets?limit=3&status=sold'],
  'a list of 100': ['/v1/pets?limit=100'],
  'a list with an invalid limit': ['/v1/pets?limit=0'],
  'a list with a non-numeric limit and an unknown status': ['/v1/pets?limit=x&status=gone'],
  'one animal': ['/v1/pets/4711'],
  'an unknown animal': ['/v1/pets/99999999'],
  'a malformed id': ['/v1/pets/abc'],
  'an id beyond 64 bits': ['/v1/pets/9223372036854775808'],
  'a new animal': ['/v1/pets', json({ name: 'Rex', categoryId: 1 })],
  'a new animal with all fields': ['/v1/pets', json({ name: 'Ünsal 🐾', categoryId: 7, status: 'sold' })],
  'the largest category': ['/v1/pets', json('{"name":"Rex","categoryId":9223372036854775807}')],
  'a category that a double cannot represent': [
    '/v1/pets',
    json('{"name":"Rex","categoryId":9007199254740993}'),
  ],
  'the animal with that category': ['/v1/pets/100004'],
  'a category beyond 64 bits': ['/v1/pets', json('{"name":"Rex","categoryId":9223372036854775808}')],
  'a category that is text': ['/v1/pets', json({ name: 'Rex', categoryId: '1' })],
  'a body with several errors': ['/v1/pets', json({ name: ' ', categoryId: 1.5, status: 'gone', extra: 1 })],
  'an empty object': ['/v1/pets', json({})],
  'a name that is too long': ['/v1/pets', json({ name: 'x'.repeat(256), categoryId: 1 })],
  'half a body': ['/v1/pets', json('{"name":')],
  'a body that is not JSON': [
    '/v1/pets',
    { method: 'POST', headers: { 'content-type': 'text/xml' }, body: 'x' },
  ],
  'no key': ['/v1/pets', { key: undefined }],
  'a malformed key': ['/v1/pets', { key: 'pst_live_none' }],
};

/** Compares two servers, each `{ url, logFile, databaseFile, metricsUrl }`. Throws at the first difference. Returns the number of cases. */
export async function checkEqual(servers, { key, smallKey }) {
  const request = (server, path, { key: own = key, ...init } = {}) =>
    fetchResponse(server.url + path, own, init);
  let requests = 0;
  for (const [name, [path, init = {}]] of Object.entries(CASES)) {
    const used = 'key' in init ? { ...init, key: init.key ?? '' } : init;
    const [ours, theirs] = await Promise.all(servers.map((server) => request(server, path, used)));
    assert.deepEqual(comparable(theirs), comparable(ours), name);
    requests += 1;
  }
  for (const server of servers) {
    await checkPages((path) => request(server, path), server);
    await checkRevalidation((path, init) => request(server, path, init));
    await checkQuota((path) => request(server, path, { key: smallKey }));
    checkRows(server);
    await checkTraces(server, requests);
  }
  return Object.keys(CASES).length;
}

async function fetchResponse(url, key, { headers = {}, ...init }) {
  const authorization = key === '' ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(url, { ...init, headers: { ...authorization, ...headers } });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}

/** The parts of a response that must be equal: all bytes of a success, but only the status, the code and the field errors of an error. */
function comparable({ status, headers, text }) {
  const names = Object.keys(headers).filter((name) => name !== 'accept-encoding');
  const isList = text.startsWith('[');
  const shown = names
    // The links of a list contain cursors, whose format differs between the servers.
    .filter((name) => !VARYING.has(name) && !(isList && name === 'link'))
    // Error messages may differ, and so may connection handling after an error.
    .filter((name) => status < 400 || !['content-length', 'connection', 'keep-alive'].includes(name));
  return {
    status,
    names: names.filter((name) => !['connection', 'keep-alive'].includes(name)).toSorted(),
    headers: Object.fromEntries(shown.map((name) => [name, headers[name]])),
    body: status < 400 ? text : errorsOf(JSON.parse(text)),
  };
}

function errorsOf({ code, status, details = [] }) {
  const errors = details.map((detail) => `${detail.field}: ${detail.code}`);
  return { code, status, errors: errors.toSorted() };
}

/** Checks that pages list the animals with a status in order, without duplicates. */
async function checkPages(request, { url }) {
  const ids = [];
  for (let path = '/v1/pets?limit=100&status=sold', page = 0; path !== undefined && page < 5; page += 1) {
    const { text, headers } = await request(path);
    ids.push(...JSON.parse(text).map(({ id }) => id));
    path = /<([^>]+)>; rel="next"/.exec(headers.link)?.[1];
  }
  assert.equal(ids.length, 500, url);
  assert.deepEqual(
    ids,
    [...new Set(ids)].toSorted((a, b) => a - b),
    url,
  );
}

async function checkRevalidation(request) {
  const { headers } = await request('/v1/pets?limit=20');
  const { status, text } = await request('/v1/pets?limit=20', { headers: { 'if-none-match': headers.etag } });
  assert.deepEqual({ status, text }, { status: 304, text: '' });
}

/** With a limit of three requests per minute, each request counts, and the fourth is refused. */
async function checkQuota(request) {
  await untilMinuteIsYoung();
  const responses = [];
  for (let sent = 0; sent < 4; sent += 1) responses.push(await request('/v1/pets/1'));
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200, 429],
  );
  const shown = responses.map(({ headers }) => [
    headers['x-ratelimit-limit'],
    headers['x-ratelimit-remaining'],
  ]);
  assert.deepEqual(shown, [
    ['3', '2'],
    ['3', '1'],
    ['3', '0'],
    ['3', '0'],
  ]);
  const { headers, text } = responses[3];
  assert.match(headers.ratelimit, /^"minute";r=0;t=\d+, "day";r=97;t=\d+$/);
  assert.equal(headers['ratelimit-policy'], '"minute";q=3;w=60, "day";q=100;w=86400');
  assert.ok(Number(headers['retry-after']) >= 1);
  assert.equal(Number(headers['x-ratelimit-reset']) % 60, 0);
  assert.equal(JSON.parse(text).code, 'rate_limit_exceeded');
}

async function untilMinuteIsYoung() {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 5_000) await new Promise((resolve) => setTimeout(resolve, left + 50));
}

/** Checks the rows of the added animals in the database file. */
function checkRows({ databaseFile }) {
  const database = new Database(databaseFile, { readonly: true });
  const sql =
    'SELECT name, CAST(category_id AS TEXT) AS category, status FROM pets WHERE id > 100000 ORDER BY id';
  const rows = database.prepare(sql).raw().all();
  database.close();
  assert.deepEqual(rows, [
    ['Rex', '1', 'available'],
    ['Ünsal 🐾', '7', 'sold'],
    ['Rex', '9223372036854775807', 'available'],
    ['Rex', '9007199254740993', 'available'],
  ]);
}

/** Checks that each request has a log line and is counted in the histogram. */
async function checkTraces({ url, logFile, metricsUrl }, least) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const lines = readFileSync(logFile, 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
    .filter(({ route }) => route?.startsWith('/v1/pets'));
  for (const line of lines)
    for (const member of ['time', 'requestId', 'method', 'route', 'status', 'durationMs', 'msg'])
      assert.ok(member in line, `${url}: ${member} is missing in ${JSON.stringify(line)}`);
  const metrics = await (await fetch(metricsUrl)).text();
  const counted = [
    ...metrics.matchAll(/^http_request_duration_seconds_count\{[^}]*\/v1\/pets[^}]*\} (\d+)/gm),
  ];
  const count = counted.reduce((sum, [, value]) => sum + Number(value), 0);
  assert.equal(count, lines.length, `${url}: requests in the histogram and lines in the log`);
  assert.ok(count > least);
}
