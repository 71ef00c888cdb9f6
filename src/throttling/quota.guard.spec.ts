import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Controller, Get, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import type { Request } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../core/time/clock.js';
import { TestClock } from '../../test/kit/test-clock.js';
import type { Transactions } from '../database/transactions.js';
import { DomainEvents } from '../events/domain-events.js';
import type { Outbox } from '../events/outbox/outbox.js';
import { Metrics } from '../core/metrics/metrics.js';
import { MemoryQuotaStore } from './memory/memory-quota-store.js';
import type { QuotaJournal } from './memory/quota-journal.js';
import { QuotaGuard } from './quota.guard.js';
import { DAY_MS, MINUTE_MS } from './quota.js';
import { QuotaService } from './quota.service.js';

@Controller()
class PlainController {
  @Get()
  plain(): void {}

  @Get()
  @SkipThrottle()
  free(): void {}

  @Get()
  @SkipThrottle({ day: true })
  nightly(): void {}
}

@Controller()
@Throttle({ minute: { limit: 3, ttl: 20_000 } })
class RareController {
  @Get()
  listed(): void {}

  @Get()
  made(): void {}
}

@Controller()
@SkipThrottle()
class FreeController {
  @Get()
  listed(): void {}

  @Get()
  @SkipThrottle({ default: false })
  made(): void {}
}

const CLIENT = { id: 'client:shop', plan: 'free', perMinute: 60, perDay: 1_000 };

let guard: QuotaGuard;
let metrics: Metrics;

beforeEach(async () => {
  const clock = new TestClock('2026-11-20T12:00:00.000Z');
  const store = new MemoryQuotaStore(new SystemClock());
  const events = new DomainEvents(
    new EventEmitter2(),
    { afterCommit: (tell: () => void) => tell() } as Transactions,
    {} as Outbox,
  );
  metrics = new Metrics();
  const quota = new QuotaService(store, {} as QuotaJournal, events, clock, metrics);
  const throttlers = [
    { name: 'minute', ttl: MINUTE_MS, limit: CLIENT.perMinute },
    { name: 'day', ttl: DAY_MS, limit: CLIENT.perDay },
  ];
  guard = new QuotaGuard({ throttlers, storage: store }, store, new Reflector(), quota);
  await guard.onModuleInit();
});

/** Sends a request to a route; answers what the guard tells of its windows. */
async function send<T extends object>(controller: new () => T, route: keyof T & string): Promise<unknown> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  (request as Request).quotaSubject = CLIENT;
  const handler = controller.prototype[route] as () => void;
  const context: ExecutionContext = new ExecutionContextHost([request, response], controller, handler);
  expect(await guard.canActivate(context)).toBe(true);
  return response.getHeader('ratelimit');
}

describe('a route', () => {
  it('shares it with no other route where the controller says so', async () => {
    expect(await send(RareController, 'listed')).toBe('"minute";r=2;t=20, "day";r=999;t=43200');
    expect(await send(RareController, 'made')).toBe('"minute";r=2;t=20, "day";r=998;t=43200');
  });

  it('counts nowhere with @SkipThrottle, on itself or its controller', async () => {
    expect(await send(PlainController, 'free')).toBeUndefined();
    expect(await send(FreeController, 'listed')).toBeUndefined();
    expect((await metrics.exposition()).text).not.toContain('petstore_quota_verdicts_total{');
    expect(await send(PlainController, 'plain')).toBe('"minute";r=59;t=60, "day";r=999;t=43200');
  });

  it('counts although its controller does not, where it says so itself', async () => {
    expect(await send(FreeController, 'made')).toBe('"minute";r=59;t=60, "day";r=999;t=43200');
  });

  it('is left out of the window that @SkipThrottle names', async () => {
    expect(await send(PlainController, 'nightly')).toBe('"minute";r=59;t=60');
  });
});
