import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { RequestOptions } from '../kit/answer.js';
import { breakPets } from '../support/break-pets.js';
import { filesOfGuide } from '../support/project-copy.js';
import { sendRaw } from '../support/raw-http.js';
import { folderOfTest, serviceOfTest, ServiceProcess } from '../support/service-process.js';
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

interface Traced {
  readonly service: ServiceProcess;
  /** Where it runs. */
  readonly folder: string;
  readonly ask: (path: string, options?: RequestOptions & { method?: string }) => Promise<number>;
}

/** Starts the service as a process with a register file; `ask` sends a request with the key of the demo data. */
async function start(environmentIn: (folder: string) => Promise<NodeJS.ProcessEnv>): Promise<Traced> {
  const folder = await folderOfTest();
  const service = await serviceOfTest(folder, await environmentIn(folder));
  const ask: Traced['ask'] = async (path, { method = 'GET', ...options } = {}) =>
    (await service.request(method, path, options)).status;
  return { service, folder, ask };
}

const POST = { method: 'POST', json: { name: 'Rex', categoryId: 1, status: 'available' } };

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

/** The status, the type of the error and whether it is one, of a span. */
const outcomeOf = ({ attributes, isError }: SpanLine) => [
  attributes['http.response.status_code'],
  attributes['error.type'],
  isError,
];

describe('a service with a registered OpenTelemetry SDK', () => {
  it('makes one server span of each request, named after its operation, with quota and statements below, and no key', async () => {
    const { service, ask, folder } = await start((path) => writingSpans(path));
    expect([
      await ask('/v1/pets?limit=2', { headers: TRACED }),
      await ask('/v1/pets', POST),
      await ask('/v1/pets/1'),
      await ask('/v1/pets', { key: 'none' }),
      await ask('/v1/nothing'),
      await ask(`/v1/pets/${service.demoKey}?secret=hunter2`),
    ]).toEqual([200, 201, 200, 401, 404, 400]);
    const spans = await serverSpans(service, 6);
    const shown = (route: string | undefined, method: string, path: string, status: number) => [
      route === undefined ? method : `${method} ${route}`,
      {
        'http.request.method': method,
        'http.response.status_code': status,
        'url.path': path,
        'url.scheme': 'http',
        ...(route === undefined ? {} : { 'http.route': route }),
      },
      false,
    ];
    expect(spans.slice(0, 5).map(({ name, attributes, isError }) => [name, attributes, isError])).toEqual([
      shown('/v1/pets', 'GET', '/v1/pets', 200),
      shown('/v1/pets', 'POST', '/v1/pets', 201),
      shown('/v1/pets/{petId}', 'GET', '/v1/pets/1', 200),
      shown('/v1/pets', 'GET', '/v1/pets', 401),
      shown(undefined, 'GET', '/v1/nothing', 404),
    ]);
    const [first, second, , , , withKey] = spans;
    expect([first?.traceId, first?.parent, first?.tracestate]).toEqual([TRACE, CALLER, 'vendor=1']);
    expect([second?.traceId === TRACE, second?.parent]).toEqual([false, undefined]);
    // The log names the same spans.
    await expect.poll(() => requestLines(service).length).toBe(6);
    expect(requestLines(service).map(({ traceId, spanId }) => [traceId, spanId])).toEqual(
      spans.map(({ traceId, spanId }) => [traceId, spanId]),
    );
    const ofPost = spansOf(service).filter(({ traceId }) => traceId === second?.traceId);
    expect(ofPost.find(({ name }) => name === 'quota')?.parent).toBe(second?.spanId);
    expect(ofPost.find(({ name }) => name === 'INSERT')?.attributes).toEqual({
      'db.system.name': 'sqlite',
      'db.operation.name': 'INSERT',
    });
    expect(withKey?.attributes).not.toHaveProperty('url.path');
    expect(JSON.stringify(spansOf(service))).not.toMatch(/Rex|pst_|hunter2/);

    // A 500 is an error, and a refusal is none, also of a client that is gone.
    const connection = connect(Number(new URL(service.url).port), '127.0.0.1');
    const quotas = () => spansOf(service).filter(({ name }) => name === 'quota').length;
    const before = quotas();
    // Waits for a body that does not come.
    connection.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`);
    connection.write(`Authorization: Bearer ${service.demoKey}\r\nContent-Length: 9\r\n\r\n`);
    await expect.poll(quotas).toBe(before + 1);
    connection.destroy();
    await serverSpans(service, 7);
    await breakPets(folder);
    expect(await ask('/v1/pets')).toBe(500);
    expect((await serverSpans(service, 8)).slice(-2).map(outcomeOf)).toEqual([
      [400, undefined, false],
      [500, '500', true],
    ]);
  });

  it('names the spans that the instrumentation of node:http has made, and makes one of each pipelined request', async () => {
    const { service, ask } = await start((folder) => writingSpans(folder, HTTP_INSTRUMENTATION));
    await ask('/v1/pets', { headers: TRACED });
    await ask('/v1/nothing');
    const spans = await serverSpans(service, 2);
    expect(spans.map(({ name, attributes }) => [name, attributes['http.route']])).toEqual([
      ['GET /v1/pets', '/v1/pets'],
      ['GET', undefined],
    ]);
    expect([spans[0]?.traceId, spans[0]?.parent]).toEqual([TRACE, CALLER]);
    // It is the instrumentation's: ours has no name of the host.
    const names = Object.keys(spans[0]?.attributes ?? {});
    expect(names.some((name) => /host|server\.address/.test(name))).toBe(true);
    const quota = spansOf(service).find(({ name }) => name === 'quota');
    expect(quota?.parent).toBe(spans[0]?.spanId);

    const trace = (number: number) => String(number).repeat(32);
    const requests = [1, 2, 3].map(
      (number) =>
        `GET /v1/pets/${number} HTTP/1.1\r\nHost: x\r\ntraceparent: 00-${trace(number)}-${CALLER}-01\r\n`,
    );
    await sendRaw(service.url, `${requests.join('\r\n')}Connection: close\r\n\r\n`);
    const pipelined = (await serverSpans(service, 5)).slice(2);
    expect(pipelined.map(({ traceId, parent }) => `${traceId} ${parent}`).toSorted()).toEqual(
      [1, 2, 3].map((number) => `${trace(number)} ${CALLER}`),
    );
    await expect.poll(() => requestLines(service).length).toBe(5);
    expect(
      requestLines(service)
        .slice(2)
        .map(({ traceId }) => traceId),
    ).toEqual([1, 2, 3].map(trace));
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

it.each([
  ['is not loaded without a registered SDK', '', 'API not loaded'],
  [
    'makes no spans where it is there without an SDK',
    `import { diag, DiagConsoleLogger } from '@opentelemetry/api';\ndiag.setLogger(new DiagConsoleLogger(), 0);`,
    'API loaded',
  ],
])('the API of OpenTelemetry %s', async (_, more, told) => {
  const { service, ask } = await start((folder) => importing(folder, `${TELLS_OF_API}\n${more}`));
  expect(await ask('/v1/pets', { headers: TRACED })).toBe(200);
  const { stdout } = await service.stop();
  expect(stdout).toContain(told);
  expect(stdout).not.toContain('traced by');
});
