import { Controller, Get, Injectable, Module } from '@nestjs/common';
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { startTracing } from '../../src/core/tracing/spans.js';
import { runningTraceIds } from '../../src/core/tracing/trace-ids.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import { Outbox } from '../../src/events/outbox/outbox.js';
import { TestService } from '../kit/test-service.js';
import { openForTest } from '../support/opened.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACED = { traceparent: `00-${TRACE}-${CALLER}-01` };

const FED = defineEvent<{ petId: bigint }>('pets.fed', { durable: true, key: ({ petId }) => petId });

/** The trace that log lines of each delivery name. */
const logged: (string | undefined)[] = [];
const letGo: (() => void)[] = [];

@Injectable()
class Kitchen {
  constructor(private readonly dataSource: DataSource) {}

  @OnDomainEvent(FED, { listener: 'kitchen' })
  async hear(): Promise<void> {
    logged.push(runningTraceIds()?.traceId);
    await this.dataSource.query('SELECT 1');
  }
}

@Controller({ path: 'works', version: '1' })
@Public()
class WorksController {
  constructor(private readonly events: DomainEvents) {}

  @Get('feeds')
  async feeds(): Promise<object> {
    await this.events.publish(FED, { petId: 1n });
    return {};
  }

  @Get('waits')
  async waits(): Promise<object> {
    await new Promise<void>((resolve) => letGo.push(resolve));
    return {};
  }
}

@Module({ controllers: [WorksController], providers: [Kitchen] })
class WorksModule {}

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(async () => {
  provider.register();
  expect(await startTracing()).toBe(true);
});
afterAll(async () => {
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
});

async function open(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await openForTest({ modules: [WorksModule], environment });
  exporter.reset();
  return service;
}

/** The span of this name, once it is there. */
async function named(name: string): Promise<ReadableSpan> {
  const found = () => exporter.getFinishedSpans().filter((span) => span.name === name);
  await expect.poll(() => found().length).toBe(1);
  return found()[0] as ReadableSpan;
}
const endOf = ({ endTime: [seconds, nanoseconds] }: ReadableSpan) => seconds + nanoseconds / 1e9;

it('the delivery of an event is no part of the request that happens to begin it', async () => {
  const service = await open();
  expect((await service.request('GET', '/v1/works/feeds', { headers: TRACED })).status).toBe(200);
  await service.app.get(Outbox).deliver();
  const request = await named('GET /v1/works/feeds');
  expect(request.spanContext().traceId).toBe(TRACE);
  const late = exporter.getFinishedSpans().filter((span) => endOf(span) > endOf(request));
  expect([logged, late.map(({ name }) => name)]).toEqual([[undefined], []]);
});

it('a request that overload refuses has its server span', async () => {
  const service = await open({ MAX_REQUESTS_IN_FLIGHT: '1' });
  const waiting = service.request('GET', '/v1/works/waits');
  await expect.poll(() => letGo.length).toBe(1);
  const refused = await service.request('GET', '/v1/pets?secret=hunter2', { headers: TRACED });
  for (const go of letGo) go();
  await waiting;
  expect(refused.status).toBe(503);
  const span = await named('GET');
  expect([span.spanContext().traceId, span.parentSpanContext?.spanId, span.status.code]).toEqual([
    TRACE,
    CALLER,
    SpanStatusCode.ERROR,
  ]);
  expect(span.attributes).toEqual({
    'http.request.method': 'GET',
    'http.response.status_code': 503,
    'error.type': '503',
    'url.path': '/v1/pets',
    'url.scheme': 'http',
  });
});
