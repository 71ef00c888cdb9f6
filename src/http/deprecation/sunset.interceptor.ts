import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { DeprecationService } from './deprecation.service.js';

/** Counts who still calls a deprecated operation, and refuses it from its sunset on. */
@Injectable()
export class SunsetInterceptor implements NestInterceptor {
  constructor(
    private readonly deprecations: DeprecationService,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, context.getHandler());
    if (deprecation) this.deprecations.admit(deprecation, context.switchToHttp().getRequest<Request>());
    return next.handle();
  }
}
