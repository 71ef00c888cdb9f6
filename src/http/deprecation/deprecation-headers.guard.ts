import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { DeprecationService } from './deprecation.service.js';

/** Announces a deprecation on every response; it is the first guard, so that refusals carry it too. */
@Injectable()
export class DeprecationHeadersGuard implements CanActivate {
  constructor(
    private readonly deprecations: DeprecationService,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, context.getHandler());
    if (deprecation) this.deprecations.announce(deprecation, context.switchToHttp().getResponse<Response>());
    return true;
  }
}
