import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { breakPets } from '../support/break-pets.js';
import { filesOfGuide } from '../support/project-copy.js';
import { sendRaw } from '../support/raw-http.js';
import { emptyFolder, ServiceProcess } from '../support/service-process.js';
import { importing, SERVER, spansOf, writingSpans, type SpanLine } from '../support/span-lines.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACED = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' };

/** As an operator's register file has it, in front of the service. */
const HTTP_INSTRUMENTATION = `
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { createRequire } from 'node:module';
registerInstrumentations({ instrumentations: [new HttpInstrumentation()] });
createRequire(import.meta.url)('node:http');`;

/** The key of the demo data. */
const keyOf = ({ output }: ServiceProcess) => /pst_test_\w{36}/.exec(output)?.[0] ?? '';

interface Asked {
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Traced {
  readonly service: ServiceProcess;
  /** Where it runs. */
  readonly folder: string;
  readonly ask: (path: string, init?: Asked) => Promise<number>;
}

/** Starts the service as a process with a register file; `ask` sends a request with the key of the demo data. */
async function start(environmentIn: (folder: string) => Promise<NodeJS.ProcessEnv>): Promise<Traced> {
  const { path: folder, remove } = await emptyFolder();
  onTestFinished(remove);
  const service = await ServiceProcess.start(folder, await environmentIn(folder));
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  const key = keyOf(service);
  const ask = async (path: string, init: Asked = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers };
    const answer = await fetch(service.url + path, { ...init, headers });
    await answer.text();
    return answer.status;
  };
  return { service, folder, ask };
}

const POST = { method: 'POST', body: JSON.stringify({ name: 'Rex', categoryId: 1, status: 'available' }) };

/** The server spans that have been written, once there are so many. */
async function serverSpans(service: ServiceProcess, count: number): Promise<SpanLine[]> {
  const all = () => spansOf(service).filter(({ kind }) => kind === SERVER);
  await expect.poll(() => all().length).toBe(count);
  return all();
}

const requestLines = ({ output }: ServiceProcess) =>
  output
    .split('\n')
    .filter((line) => line.includes('"requestId"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a service with a registered OpenTelemetry SDK', () => {
  it('makes one server span of each request, named after its operation', async () => {
    const { service, ask } = await start((folder) => writingSpans(folder));
    expect([
      await ask('/v1/pets?limit=2', { headers: TRACED }),
      await ask('/v1/pets', POST),
      await ask('/v1/pets/1'),
      await ask('/v1/pets', { headers: { authorization: 'Bearer none' } }),
      await ask('/v1/pets/999'),
      await ask('/v1/nothing'),
    ]).toEqual([200, 201, 200, 401, 404, 404]);
    const spans = await serverSpans(service, 6);
    const attributes = (method: string, path: string, status: number) => ({
      'http.request.method': method,
      'http.response.status_code': status,
      'url.path': path,
      'url.scheme': 'http',
    });
    expect(spans.map(({ name, attributes: shown, isError }) => [name, shown, isError])).toEqual([
      ['GET /v1/pets', { ...attributes('GET', '/v1/pets', 200), 'http.route': '/v1/pets' }, false],
      ['POST /v1/pets', { ...attributes('POST', '/v1/pets', 201), 'http.route': '/v1/pets' }, false],
      [
        'GET /v1/pets/{petId}',
        { ...attributes('GET', '/v1/pets/1', 200), 'http.route': '/v1/pets/{petId}' },
        false,
      ],
      ['GET /v1/pets', { ...attributes('GET', '/v1/pets', 401), 'http.route': '/v1/pets' }, false],
      [
        'GET /v1/pets/{petId}',
        { ...attributes('GET', '/v1/pets/999', 404), 'http.route': '/v1/pets/{petId}' },
        false,
      ],
      ['GET', attributes('GET', '/v1/nothing', 404), false],
    ]);
    const [first, second] = spans;
    expect([first?.traceId, first?.parent, first?.tracestate]).toEqual([TRACE, CALLER, 'vendor=1']);
    expect([second?.traceId === TRACE, second?.parent]).toEqual([false, undefined]);
    // The log names the same spans.
    await expect.poll(() => requestLines(service).length).toBe(6);
    expect(requestLines(service).map(({ traceId, spanId }) => [traceId, spanId])).toEqual(
      spans.map(({ traceId, spanId }) => [traceId, spanId]),
    );
  });

  it('shows below it the quota and the statements of the database', async () => {
    const { service, ask } = await start((folder) => writingSpans(folder));
    await ask('/v1/pets', POST);
    const [request] = await serverSpans(service, 1);
    const spans = spansOf(service).filter(({ traceId }) => traceId === request?.traceId);
    expect(spans.find(({ name }) => name === 'quota')?.parent).toBe(request?.spanId);
    expect(spans.find(({ name }) => name === 'INSERT')?.attributes).toEqual({
      'db.system.name': 'sqlite',
      'db.operation.name': 'INSERT',
    });
    expect(JSON.stringify(spans)).not.toContain('Rex');
  });

  it('gives each of the requests that are sent at once on a connection a span of its own trace', async () => {
    const { service } = await start((folder) => writingSpans(folder, HTTP_INSTRUMENTATION));
    const trace = (number: number) => String(number).repeat(32);
    const requests = [1, 2, 3].map(
      (number) =>
        `GET /v1/pets/${number} HTTP/1.1\r\nHost: x\r\ntraceparent: 00-${trace(number)}-${CALLER}-01\r\n`,
    );
    await sendRaw(service.url, `${requests.join('\r\n')}Connection: close\r\n\r\n`);
    const spans = await serverSpans(service, 3);
    expect(spans.map(({ traceId, parent }) => `${traceId} ${parent}`).toSorted()).toEqual(
      [1, 2, 3].map((number) => `${trace(number)} ${CALLER}`),
    );
    await expect.poll(() => requestLines(service).length).toBe(3);
    expect(requestLines(service).map(({ traceId }) => traceId)).toEqual([1, 2, 3].map(trace));
  });

  it('names the span that the instrumentation of node:http has made, and makes no second', async () => {
    const { service, ask } = await start((folder) => writingSpans(folder, HTTP_INSTRUMENTATION));
    await ask('/v1/pets', { headers: TRACED });
    await ask('/v1/pets/1');
    await ask('/v1/nothing');
    const spans = await serverSpans(service, 3);
    expect(spans.map(({ name, attributes }) => [name, attributes['http.route']])).toEqual([
      ['GET /v1/pets', '/v1/pets'],
      ['GET /v1/pets/{petId}', '/v1/pets/{petId}'],
      ['GET', undefined],
    ]);
    expect([spans[0]?.traceId, spans[0]?.parent]).toEqual([TRACE, CALLER]);
    // It is the instrumentation's: ours has no name of the host.
    expect(Object.keys(spans[0]?.attributes ?? {}).some((name) => /host|server\.address/.test(name))).toBe(
      true,
    );
    const quota = spansOf(service).find(({ name }) => name === 'quota');
    expect(quota?.parent).toBe(spans[0]?.spanId);
  });

  it('shows a 500 as an error and a refusal as none, also of a client that is gone', async () => {
    const { service, ask, folder } = await start((path) => writingSpans(path));
    const connection = connect(Number(new URL(service.url).port), '127.0.0.1');
    // Waits for a body that does not come.
    connection.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`);
    connection.write(`Authorization: Bearer ${keyOf(service)}\r\nContent-Length: 9\r\n\r\n`);
    await expect.poll(() => spansOf(service).map(({ name }) => name)).toContain('quota');
    connection.destroy();
    await serverSpans(service, 1);
    await breakPets(folder);
    expect([await ask('/v1/pets'), await ask('/v1/nothing')]).toEqual([500, 404]);
    const spans = await serverSpans(service, 3);
    expect(
      spans.map(({ attributes, isError }) => [
        attributes['http.response.status_code'],
        attributes['error.type'],
        isError,
      ]),
    ).toEqual([
      [400, undefined, false],
      [500, '500', true],
      [404, undefined, false],
    ]);
  });

  it('shows no key that was put into the path, and no query', async () => {
    const { service, ask } = await start((folder) => writingSpans(folder));
    await ask(`/v1/pets/${keyOf(service)}?secret=hunter2`);
    const [span] = await serverSpans(service, 1);
    expect(span?.attributes).not.toHaveProperty('url.path');
    expect(JSON.stringify(spansOf(service))).not.toMatch(/pst_|hunter2/);
  });

  it('runs with the register file of the documentation, and loses no span at a stop', async () => {
    const text = (await filesOfGuide('docs/operations/tracing.md')).get('tracing.mjs') ?? '';
    const { service, ask } = await start((folder) => importing(folder, text));
    await ask('/v1/pets/1');
    expect(service.output).toContain('Requests are traced by the registered OpenTelemetry SDK');
    const { code, stdout } = await service.stop();
    expect([code, stdout]).toEqual([0, expect.stringContaining("name: 'GET /v1/pets/{petId}'")]);
    expect(stdout).toContain("'service.name': 'petstore'");
  });
});

/** Tells at the exit whether the process has loaded the API, which the bundle has no copy of that it could use in its place. */
const TELLS_OF_API = `
import { createRequire } from 'node:module';
process.on('exit', () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache).some((file) => /@opentelemetry.api.build/.test(file));
  process.stdout.write(loaded ? 'API loaded' : 'API not loaded');
});`;

describe('a service without a registered SDK', () => {
  it('does not load the API, and logs the ids of the caller', async () => {
    const { service, ask } = await start((folder) => importing(folder, TELLS_OF_API));
    expect(await ask('/v1/pets', { headers: TRACED })).toBe(200);
    await expect.poll(() => requestLines(service).length).toBe(1);
    expect(requestLines(service)[0]).toMatchObject({ traceId: TRACE, spanId: CALLER });
    const { stdout } = await service.stop();
    expect(stdout).toContain('API not loaded');
    expect(stdout).not.toContain('traced by');
  });

  it('makes no spans where the API is there without an SDK', async () => {
    const text = `${TELLS_OF_API}\nimport { diag, DiagConsoleLogger } from '@opentelemetry/api';\ndiag.setLogger(new DiagConsoleLogger(), 0);`;
    const { service, ask } = await start((folder) => importing(folder, text));
    expect(await ask('/v1/pets', { headers: TRACED })).toBe(200);
    const { stdout } = await service.stop();
    expect(stdout).toContain('API loaded');
    expect(stdout).not.toContain('traced by');
  });
});
