import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { Settings } from '../core/config/settings.js';
import { ApiError } from '../core/errors/api-error.js';
import { HTTP_ERRORS } from '../core/errors/http.errors.js';
import { QuotaService } from '../throttling/quota.service.js';

const ADMINISTRATION = /^\/(?:admin|console)(?:[/?]|$)/;

/**
 * Returns 404 for /admin and /console on a port that does not serve them (ADMIN_ON). No key is verified; the request counts for its
 * address.
 */
@Injectable()
export class AdministrationPortMiddleware implements NestMiddleware {
  constructor(
    private readonly settings: Settings,
    private readonly quota: QuotaService,
  ) {}

  /** Returns a promise, which rejects, only to refuse a request. */
  use = (request: Request, response: Response, next: NextFunction): Promise<never> | undefined => {
    const isOff = this.settings.adminOn === 'off' || !request.isByManagementPort;
    if (isOff && ADMINISTRATION.test(request.url)) return this.refuse(request, response);
    next();
    return undefined;
  };

  private async refuse(request: Request, response: Response): Promise<never> {
    await this.quota.noteRefusal(request, response);
    throw new ApiError(HTTP_ERRORS.route_not_found);
  }
}
