import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import { DEPRECATION, type Deprecation } from './deprecated.decorator.js';
import { effectiveSunset } from './effective-sunset.js';

/** Announces a deprecation on every response; it is the first guard, so that refusals carry it too. */
@Injectable()
export class DeprecationHeadersGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const deprecation = this.reflector.get<Deprecation | undefined>(DEPRECATION, context.getHandler());
    if (!deprecation) return true;
    const response = context.switchToHttp().getResponse<Response>();
    response.setHeader('Deprecation', `@${Math.floor(deprecation.since / 1000)}`);
    response.setHeader('Sunset', new Date(effectiveSunset(deprecation, this.settings)).toUTCString());
    response.append('Link', `<${deprecation.link}>; rel="deprecation"; type="text/html"`);
    return true;
  }
}
