import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { PromisedInterceptor } from '../promised.interceptor.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { DeprecationService } from './deprecation.service.js';

/** Counts who still calls a deprecated operation, and refuses it from its sunset on. */
@Injectable()
export class SunsetInterceptor extends PromisedInterceptor {
  constructor(
    private readonly deprecations: DeprecationService,
    private readonly reflector: Reflector,
  ) {
    super();
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, context.getHandler());
    if (deprecation) this.deprecations.admit(deprecation, context.switchToHttp().getRequest<Request>());
    return next();
  }
}
