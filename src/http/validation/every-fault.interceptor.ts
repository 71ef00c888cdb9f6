import { type ArgumentMetadata, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request } from 'express';
import { ApiError, type FaultDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { HandlerMetadata } from '../../core/handler-metadata.js';
import { methodNameOf, parametersOf } from '../adapter/handler-parameters.js';
import { AsyncInterceptor } from '../async.interceptor.js';
import { InvalidArgument, ValidationPipe } from './validation.pipe.js';

/**
 * Completes a 400 for invalid values. The first invalid argument or header throws and ends the request; this interceptor
 * catches that, validates the remaining arguments too, and throws one error with the faults of all. A valid request does no
 * extra work.
 */
@Injectable()
export class EveryFaultInterceptor extends AsyncInterceptor {
  private readonly pipe = new ValidationPipe();
  private readonly argumentsOf = new HandlerMetadata(([handler, controller]) =>
    validatedArguments(controller as Type, handler),
  );

  async around(context: ExecutionContext, next: () => Promise<unknown>): Promise<unknown> {
    try {
      return await next();
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== HTTP_ERRORS.validation_failed.code) throw error;
      throw await this.completed(error, context);
    }
  }

  private async completed(error: ApiError, context: ExecutionContext): Promise<ApiError> {
    const request = context.switchToHttp().getRequest<Request>();
    const faults = [...error.faults];
    for (const argument of this.argumentsOf.of(context)) {
      const isKnown = error instanceof InvalidArgument && isSame(error.argument, argument);
      if (!isKnown) faults.push(...(await this.faultsOf(argument, request)));
    }
    if (faults.length === error.faults.length) return error;
    return new ApiError(HTTP_ERRORS.validation_failed, { details: faults, headers: error.headers });
  }

  private async faultsOf(argument: ArgumentMetadata, request: Request): Promise<readonly FaultDetail[]> {
    try {
      await this.pipe.transform(valueOf(argument, request), argument);
      return [];
    } catch (error) {
      if (error instanceof InvalidArgument) return error.faults;
      throw error;
    }
  }
}

const VALIDATED: ReadonlyMap<RouteParamtypes | 'custom', ArgumentMetadata['type']> = new Map([
  [RouteParamtypes.PARAM, 'param'],
  [RouteParamtypes.QUERY, 'query'],
  [RouteParamtypes.BODY, 'body'],
]);

/** The arguments of a handler that only ValidationPipe validates, in the order in which their faults are named. */
export function validatedArguments(controller: Type, handler: unknown): ArgumentMetadata[] {
  const method = methodNameOf(handler, controller);
  if (method === undefined) return [];
  return parametersOf(controller, method).flatMap(({ kind, metatype, data, pipes = [], schema }) => {
    const type = VALIDATED.get(kind);
    if (type === undefined || pipes.length > 0 || schema !== undefined) return [];
    return [{ type, metatype, data: data as string | undefined }];
  });
}

function isSame(one: ArgumentMetadata, other: ArgumentMetadata): boolean {
  return one.type === other.type && one.data === other.data;
}

function valueOf({ type, data }: ArgumentMetadata, request: Request): unknown {
  const source = (type === 'param' ? request.params : type === 'query' ? request.query : request.body) as
    Readonly<Record<string, unknown>> | undefined;
  return data === undefined ? source : source?.[data];
}
