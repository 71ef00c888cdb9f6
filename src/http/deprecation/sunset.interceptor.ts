import { Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { HandlerMetadata } from '../../handler-metadata.js';
import { PromisedInterceptor } from '../promised.interceptor.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { DeprecationService } from './deprecation.service.js';

/** Counts who still calls a deprecated operation, and refuses it from its sunset on. */
@Injectable()
export class SunsetInterceptor extends PromisedInterceptor {
  private readonly deprecation;

  constructor(
    private readonly deprecations: DeprecationService,
    reflector: Reflector,
  ) {
    super();
    this.deprecation = new HandlerMetadata(([handler]) =>
      reflector.get<Deprecation | undefined>(DEPRECATION, handler),
    );
  }

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    const deprecation = this.deprecation.of(context);
    if (deprecation) this.deprecations.admit(deprecation, context.switchToHttp().getRequest<Request>());
    return next();
  }
}
