import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  type Resolvable,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
} from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { DECLARATIONS } from '../core/declared-operation.js';
import { ADMITTED, HandlerMetadata, requestOf, responseOf } from '../core/execution-context.js';
import { QuotaStore } from './quota-store.js';
import { quotaSubjectOf } from './quota-policy.js';
import { QuotaService } from './quota.service.js';
import type { QuotaWindow } from './quota.js';
import { type DecoratedWindow, decoratedWindow, isDecorated } from './throttle-decorators.js';

/**
 * Throttler's guard, changed to decide all windows of a request together. The stock guard counts them one by one, so a request refused by
 * the daily window still uses up one of the minute.
 */
@Injectable()
export class QuotaGuard extends ThrottlerGuard {
  private readonly counting;

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: QuotaStore,
    reflector: Reflector,
    private readonly quota: QuotaService,
  ) {
    super(options, storage, reflector);
    this.counting = new HandlerMetadata((targets) => ({
      operationLimit: DECLARATIONS.for(...targets).operationLimit,
      decorated: targets.some(isDecorated)
        ? this.throttlers.map(({ name = '' }) => decoratedWindow(name, targets))
        : undefined,
    }));
  }

  override canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    if (!request || request.requester !== undefined) return ADMITTED;
    const response = responseOf(context);
    const { operationLimit, decorated } = this.counting.of(context);
    if (operationLimit) return this.quota.takeUncounted(request, response, operationLimit);
    if (decorated) return this.takeDecorated(decorated, context, request, response);
    // Without decorators these are the subject's two windows, and looking them up would take about 8 µs.
    return this.quota.take(request, response);
  }

  private async takeDecorated(
    decorated: readonly DecoratedWindow[],
    context: ExecutionContext,
    request: Request,
    response: Response,
  ): Promise<boolean> {
    const windows = await this.windowsOf(decorated, context, request);
    return windows.length === 0 || this.quota.take(request, response, windows);
  }

  /** The subject's windows for an operation. A window changed by a decorator counts only that operation. */
  private async windowsOf(
    operation: readonly DecoratedWindow[],
    context: ExecutionContext,
    request: Request,
  ): Promise<QuotaWindow[]> {
    const subject = quotaSubjectOf(request);
    const route = `${subject.id}:${context.getClass().name}.${context.getHandler().name}`;
    const valueOf = async (value: Resolvable<number>): Promise<number> =>
      typeof value === 'function' ? value(context) : value;
    const windows: QuotaWindow[] = [];
    for (const [at, decorated] of operation.entries()) {
      const throttler = this.throttlers[at];
      if (!throttler || decorated.isSkipped || throttler.skipIf?.(context)) continue;
      const { limit, ttl } = decorated;
      windows.push({
        key: limit === undefined && ttl === undefined ? subject.id : route,
        name: throttler.name ?? '',
        limit: await valueOf(limit ?? throttler.limit),
        lengthMs: await valueOf(ttl ?? throttler.ttl),
      });
    }
    return windows;
  }
}
