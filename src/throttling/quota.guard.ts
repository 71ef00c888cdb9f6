import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import {
  THROTTLER_LIMIT,
  THROTTLER_SKIP,
  THROTTLER_TTL,
} from '@nestjs/throttler/dist/throttler.constants.js';
import type { Request } from 'express';
import { HandlerMetadata, requestOf, responseOf } from '../core/execution-context.js';
import { QuotaStore } from './quota-store.js';
import { quotaSubjectOf } from './quota-policy.js';
import { QuotaService } from './quota.service.js';
import type { QuotaWindow } from './quota.js';
import { UNCOUNTED, type UncountedBound } from './uncounted.decorator.js';

/** Prefix of all metadata keys of Throttler's decorators. */
const THROTTLER = 'THROTTLER:';
/** Metadata key of `@SkipThrottle()` without names. */
const SKIP_KEY = `${THROTTLER_SKIP}default`;

/**
 * Throttler's guard, changed to decide all windows of a request together: the stock guard counts them one after the other, so
 * that a request refused by the day's window still uses up one of the minute. `@Throttle` and `@SkipThrottle` are still
 * resolved by the stock code.
 */
@Injectable()
export class QuotaGuard extends ThrottlerGuard {
  private readonly collected = new WeakMap<ExecutionContext, QuotaWindow[]>();
  private readonly isPlain;
  private readonly boundOf;

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: QuotaStore,
    reflector: Reflector,
    private readonly quota: QuotaService,
  ) {
    super(options, storage, reflector);
    this.isPlain = new HandlerMetadata((targets) => !targets.some(saysAnythingOfThrottling));
    this.boundOf = new HandlerMetadata((targets) =>
      reflector.getAllAndOverride<UncountedBound | undefined>(UNCOUNTED, targets),
    );
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = requestOf(context);
    if (!request) return true;
    const response = responseOf(context);
    // Without metadata the stock code would find the same two windows, and take some 8 µs to do so.
    if (this.isPlain.of(context)) {
      await this.quota.take(request, response);
      return true;
    }
    const bound = this.boundOf.of(context);
    if (bound) {
      await this.quota.takeUncounted(request, response, bound);
      return true;
    }
    const windows: QuotaWindow[] = [];
    this.collected.set(context, windows);
    await super.canActivate(context);
    if (windows.length > 0) await this.quota.take(request, response, windows);
    return true;
  }

  /** `@SkipThrottle()` without names skips all windows. */
  protected override shouldSkip(context: ExecutionContext): Promise<boolean> {
    return Promise.resolve(this.onRoute(context, SKIP_KEY) === true);
  }

  /** Called by the stock guard once per window that applies; a window set by `@Throttle` counts per route. */
  protected override handleRequest({ context, limit, ttl, throttler }: ThrottlerRequest): Promise<boolean> {
    const name = throttler.name ?? 'default';
    const subject = quotaSubjectOf(context.switchToHttp().getRequest<Request>());
    const ofRoute = [THROTTLER_LIMIT, THROTTLER_TTL].some(
      (option) => this.onRoute(context, option + name) !== undefined,
    );
    const key = ofRoute
      ? `${subject.id}:${context.getClass().name}.${context.getHandler().name}`
      : subject.id;
    this.collected.get(context)?.push({ key, name, limit, lengthMs: ttl });
    return Promise.resolve(true);
  }

  private onRoute(context: ExecutionContext, key: string): unknown {
    return this.reflector.getAllAndOverride<unknown>(key, [context.getHandler(), context.getClass()]);
  }
}

/** Whether a handler or controller has any metadata of Throttler's decorators, or of `@Uncounted()`. */
function saysAnythingOfThrottling(target: object): boolean {
  return Reflect.getMetadataKeys(target).some(
    (key) => String(key).startsWith(THROTTLER) || key === UNCOUNTED,
  );
}
