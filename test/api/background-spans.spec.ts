import { Controller, Get, Injectable, Logger, Module, NotFoundException } from '@nestjs/common';
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { Public } from '../../src/auth/auth.decorators.js';
import { DomainEvents, OnDomainEvent, defineEvent } from '../../src/events/domain-events.js';
import { Outbox } from '../../src/events/outbox/outbox.js';
import { Job } from '../../src/events/jobs/job.decorator.js';
import { Jobs } from '../../src/events/jobs/jobs.js';
import { TestService } from '../kit/test-service.js';
import { startTracing } from '../../src/core/tracing/spans.js';
import { runningTraceIds } from '../../src/core/tracing/trace-ids.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACED = { traceparent: `00-${TRACE}-${CALLER}-01` };

const FED = defineEvent<{ petId: bigint }>('pets.fed', { durable: true, key: ({ petId }) => petId });

let failing: Error | undefined;
/** The trace that log lines of the work name. */
let logged: (string | undefined)[] = [];
let letGo: (() => void)[] = [];

@Injectable()
class Worker {
  constructor(private readonly dataSource: DataSource) {}

  @Job({ name: 'pets.count', every: 60_000 })
  async count(): Promise<void> {
    logged.push(runningTraceIds()?.traceId);
    await this.dataSource.query('SELECT count(*) FROM pets');
    if (failing) throw failing;
  }

  @OnDomainEvent(FED, { listener: 'kitchen' })
  async hear(): Promise<void> {
    logged.push(runningTraceIds()?.traceId);
    await this.dataSource.query('SELECT 1');
    if (failing) throw failing;
  }
}

@Controller({ path: 'works', version: '1' })
@Public()
class WorksController {
  constructor(
    private readonly events: DomainEvents,
    private readonly jobs: Jobs,
  ) {}

  @Get('feeds')
  async feeds(): Promise<object> {
    await this.events.publish(FED, { petId: 1n });
    return {};
  }

  @Get('counts')
  async counts(): Promise<object> {
    await this.jobs.run('pets.count');
    return {};
  }

  @Get('waits')
  async waits(): Promise<object> {
    await new Promise<void>((resolve) => letGo.push(resolve));
    return {};
  }
}

@Module({ controllers: [WorksController], providers: [Worker] })
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
beforeEach(() => {
  failing = undefined;
  logged = [];
  letGo = [];
});

async function open(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await TestService.open({ modules: [WorksModule], environment });
  onTestFinished(() => service.close());
  // A failure that a test makes would be written out.
  Logger.overrideLogger(false);
  exporter.reset();
  return service;
}

const spans = () => exporter.getFinishedSpans();
const named = (name: string): ReadableSpan => {
  const found = spans().filter((span) => span.name === name);
  expect([name, found.length]).toEqual([name, 1]);
  return found[0] as ReadableSpan;
};
const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;
const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const traceOf = (span: ReadableSpan) => span.spanContext().traceId;
const endOf = ({ endTime: [seconds, nanoseconds] }: ReadableSpan) => seconds + nanoseconds / 1e9;
const kinds = { INTERNAL: 0, SERVER: 1, CONSUMER: 4 };

describe('a job', () => {
  it('has a span that begins a trace, with its statements below, and log lines name that', async () => {
    const { app } = await open();
    await app.get(Jobs).run('pets.count');
    const job = named('job pets.count');
    expect([job.kind, parentOf(job), job.status.code]).toEqual([
      kinds.INTERNAL,
      undefined,
      SpanStatusCode.UNSET,
    ]);
    expect(job.attributes).toEqual({ 'petstore.job': 'pets.count' });
    expect(spans().filter((span) => span.name === 'SELECT' && parentOf(span) === idOf(job))).not.toEqual([]);
    expect(logged).toEqual([traceOf(job)]);
    expect(spans().filter((span) => traceOf(span) !== traceOf(job))).toEqual([]);
  });

  it('that fails is shown as an error, with nothing of its message', async () => {
    const { app } = await open();
    failing = new NotFoundException('hunter2');
    await expect(app.get(Jobs).run('pets.count')).rejects.toThrow('hunter2');
    const job = named('job pets.count');
    expect([job.status, job.attributes['error.type']]).toEqual([
      { code: SpanStatusCode.ERROR },
      'NotFoundException',
    ]);
    expect(job.events).toEqual([]);
  });

  it('that a request runs is a part of that', async () => {
    const service = await open();
    expect((await service.request('GET', '/v1/works/counts', { headers: TRACED })).status).toBe(200);
    await expect.poll(() => spans().some(({ name }) => name === 'GET /v1/works/counts')).toBe(true);
    const job = named('job pets.count');
    expect([traceOf(job), parentOf(job)]).toEqual([TRACE, idOf(named('GET /v1/works/counts'))]);
  });
});

describe('the delivery of an event', () => {
  it('has a span of a consumer, in a trace of its own', async () => {
    const service = await open();
    expect((await service.request('GET', '/v1/works/feeds', { headers: TRACED })).status).toBe(200);
    await service.app.get(Outbox).deliver();
    const delivery = named('process pets.fed');
    expect([delivery.kind, parentOf(delivery), traceOf(delivery) === TRACE]).toEqual([
      kinds.CONSUMER,
      undefined,
      false,
    ]);
    expect(delivery.attributes).toEqual({
      'messaging.system': 'petstore',
      'messaging.operation.type': 'process',
      'messaging.operation.name': 'process',
      'messaging.destination.name': 'pets.fed',
      'messaging.consumer.group.name': 'kitchen',
      'messaging.message.id': expect.stringMatching(/^\d+$/) as string,
    });
    expect(logged).toEqual([traceOf(delivery)]);
    const below = spans().filter((span) => parentOf(span) === idOf(delivery));
    expect(below.map(({ name }) => name)).toEqual(['SELECT']);
    // Reading the event and noting that it was handled is no part of the request that happened to begin the delivery.
    const request = named('GET /v1/works/feeds');
    const late = spans().filter((span) => traceOf(span) === TRACE && endOf(span) > endOf(request));
    expect(late.map(({ name }) => name)).toEqual([]);
  });

  it('that fails is shown as an error', async () => {
    const { app } = await open();
    failing = new TypeError('hunter2');
    await app.get(DomainEvents).publish(FED, { petId: 2n });
    await app.get(Outbox).deliver();
    const { status, attributes } = named('process pets.fed');
    expect([status, attributes['error.type']]).toEqual([{ code: SpanStatusCode.ERROR }, 'TypeError']);
  });
});

describe('a request that is answered before the chain', () => {
  it('has its server span when overload refuses it', async () => {
    const service = await open({ MAX_REQUESTS_IN_FLIGHT: '1' });
    const waiting = service.request('GET', '/v1/works/waits');
    await expect.poll(() => letGo.length).toBe(1);
    const refused = await service.request('GET', '/v1/pets?secret=hunter2', { headers: TRACED });
    for (const go of letGo) go();
    await waiting;
    expect(refused.status).toBe(503);
    await expect.poll(() => spans().some(({ name }) => name === 'GET')).toBe(true);
    const shed = named('GET');
    const { kind, attributes, status } = shed;
    expect([kind, traceOf(shed), parentOf(shed), status.code]).toEqual([
      kinds.SERVER,
      TRACE,
      CALLER,
      SpanStatusCode.ERROR,
    ]);
    expect(attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 503,
      'error.type': '503',
      'url.path': '/v1/pets',
      'url.scheme': 'http',
    });
  });
});
