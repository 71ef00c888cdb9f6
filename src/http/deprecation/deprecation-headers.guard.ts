import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { HandlerMetadata } from '../../handler-metadata.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { DeprecationService } from './deprecation.service.js';

/** Announces a deprecation on every response; it is the first guard, so that refusals carry it too. */
@Injectable()
export class DeprecationHeadersGuard implements CanActivate {
  private readonly deprecation;

  constructor(
    private readonly deprecations: DeprecationService,
    reflector: Reflector,
  ) {
    this.deprecation = new HandlerMetadata(([handler]) =>
      reflector.get<Deprecation | undefined>(DEPRECATION, handler),
    );
  }

  canActivate(context: ExecutionContext): boolean {
    const deprecation = this.deprecation.of(context);
    if (deprecation) this.deprecations.announce(deprecation, context.switchToHttp().getResponse<Response>());
    return true;
  }
}
