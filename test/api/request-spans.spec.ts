import { createRequire } from 'node:module';
import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { context, propagation, trace } from '@opentelemetry/api';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { runningTraceIds, startTracing } from '../../src/core/tracing.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import { Outbox } from '../../src/events/outbox/outbox.js';
import { TestService } from '../kit/test-service.js';
import { sendRaw } from '../support/raw-http.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACED = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' };

const FED = defineEvent<{ petId: bigint }>('pets.fed', { durable: true, key: ({ petId }) => petId });

/** The traces that log lines of a delivery, and spans that an instrumentation makes in it, belong to. */
const ofDeliveries: unknown[] = [];

@Injectable()
class Kitchen {
  @OnDomainEvent(FED, { listener: 'kitchen' })
  handle(): Promise<void> {
    ofDeliveries.push(runningTraceIds(), trace.getSpan(context.active()));
    return Promise.resolve();
  }
}

@Controller({ path: 'feeds', version: '1' })
@Public()
class FeedsController {
  constructor(private readonly events: DomainEvents) {}

  @Get()
  async feed(): Promise<object> {
    await this.events.publish(FED, { petId: 1n });
    return { ids: runningTraceIds() };
  }
}

@Module({ controllers: [FeedsController], providers: [Kitchen] })
class FeedsModule {}

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
let service: TestService;

beforeAll(async () => {
  provider.register();
  const http = new HttpInstrumentation({ ignoreOutgoingRequestHook: () => true });
  registerInstrumentations({ instrumentations: [http] });
  createRequire(import.meta.url)('node:http');
  expect(await startTracing()).toBe(true);
  service = await TestService.open({ modules: [FeedsModule], environment: { MAX_REQUESTS_IN_FLIGHT: '0' } });
});
afterAll(async () => {
  await service.close();
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
});
beforeEach(() => exporter.reset());

/** The spans of requests, once there are so many, in the order in which they ended. */
async function spans(count: number): Promise<readonly ReadableSpan[]> {
  await expect.poll(() => exporter.getFinishedSpans().length).toBe(count);
  return exporter.getFinishedSpans();
}

it.each([
  ['GET', '/v1/pets?limit=2', 'GET /v1/pets', '/v1/pets'],
  ['GET', '/v1/pets/1', 'GET /v1/pets/{petId}', '/v1/pets/{petId}'],
  ['GET', '/v1/nothing', 'GET', undefined],
  ['POST', '/v1/pets', 'POST /v1/pets', '/v1/pets'],
])('%s %s has one server span, named %s', async (method, path, name, route) => {
  await service.request(method, path, { headers: TRACED });
  const [span] = await spans(1);
  expect([span?.name, span?.attributes['http.route']]).toEqual([name, route]);
  expect([span?.spanContext().traceId, span?.parentSpanContext?.spanId]).toEqual([TRACE, CALLER]);
});

it('lines logged for a request have the ids of its span, which starts a trace if the caller sends none', async () => {
  const { body } = await service.request('GET', '/v1/feeds');
  const [span] = await spans(1);
  const { traceId, spanId } = span?.spanContext() ?? {};
  expect([body, span?.parentSpanContext]).toEqual([{ ids: { traceId, spanId } }, undefined]);
});

it('an API key in a target is in no span', async () => {
  const key = service.key;
  for (const path of [`/v1/pets/${key}`, `/v1/pets?key=${key}`]) await service.request('GET', path);
  const shown = (await spans(2)).map(({ name, attributes }) => JSON.stringify([name, attributes]));
  expect(shown.join()).not.toContain(key);
  expect(shown).toEqual([
    expect.stringContaining('redacted'),
    expect.stringMatching(/"\/v1\/pets".*redacted/),
  ]);
});

it('requests that are sent together on one connection have each their own', async () => {
  const traceOf = (number: number) => String(number).repeat(32);
  const requests = [1, 2, 3].map(
    (number) =>
      `GET /v1/pets/${number} HTTP/1.1\r\nHost: x\r\ntraceparent: 00-${traceOf(number)}-${CALLER}-01\r\n`,
  );
  await sendRaw(service.url, `${requests.join('\r\n')}Connection: close\r\n\r\n`);
  expect((await spans(3)).map((span) => span.spanContext().traceId).toSorted()).toEqual(
    [1, 2, 3].map(traceOf),
  );
});

it('the delivery of an event is not part of the request that happens to start it', async () => {
  ofDeliveries.length = 0;
  expect((await service.request('GET', '/v1/feeds', { headers: TRACED })).status).toBe(200);
  await service.app.get(Outbox).deliver();
  // One of them may be of a request before.
  expect(ofDeliveries.length).toBeGreaterThan(0);
  expect(ofDeliveries.filter((one) => one !== undefined)).toEqual([]);
});
