import { type ArgumentMetadata, type ArgumentsHost, HttpException, Injectable } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { Request, Response } from 'express';
import { ApiError, type ErrorDetail } from '../../core/errors/api-error.js';
import { HTTP_ERRORS } from '../../core/errors/http.errors.js';
import { prepareRefusal } from '../../core/errors/write-refusal.js';
import { refusalByDatabase } from '../../database/constraint-violations.js';
import { QuotaService } from '../../throttling/quota.service.js';
import type { HandlerParameter } from '../operations/handler-parameters.js';
import type { RegisteredOperation } from '../operations/registered-operation.js';
import { refusalOfMultipart } from '../body/multipart-refusals.js';
import { refuseAtEnd } from '../replies/reply.js';
import { InvalidArgument, ValidationPipe } from '../validation/validation.pipe.js';

/**
 * Prepares the response to an exception before ErrorFilter or a module's filter sends it: sets the headers of the exception and of the rate
 * limit. A 400 for invalid values lists the errors of all arguments, not only of the first.
 */
@Injectable()
export class Exceptions {
  private readonly pipe = new ValidationPipe();

  constructor(private readonly quota: QuotaService) {}

  /**
   * Returns, or resolves to, the exception for the filter. `isOfModule`: the filter may belong to a module, which can send any response.
   */
  prepare(thrown: unknown, host: ArgumentsHost, isOfModule: boolean): unknown {
    const [request, response] = host.getArgs<[Request, Response]>();
    const { operation } = request;
    // A handler that reads the body itself has other errors.
    const error = refusalByDatabase(
      !operation || operation.consumption.isRead ? thrown : refusalOfMultipart(thrown),
    );
    if (!(operation && error instanceof ApiError && error.code === HTTP_ERRORS.validation_failed.code))
      return this.prepared(thrown, error, request, response, isOfModule);
    return this.completed(error, request, operation)
      .catch((failure: unknown) => failure)
      .then((completed) => this.prepared(completed, completed, request, response, isOfModule));
  }

  /**
   * Requests not counted yet were for a page, a file or a probe, or ended before the guards, for example in a middleware. A refusal counts
   * for the address, a failure does not; either way, the log lines of an address are limited.
   */
  private prepared(
    thrown: unknown,
    error: unknown,
    request: Request,
    response: Response,
    isOfModule: boolean,
  ): unknown {
    const prepare = (): unknown => {
      request.exception = error;
      if (isOfModule) {
        prepareRefusal(error, response);
        refuseAtEnd(response);
      }
      return thrown;
    };
    if (request.requester !== undefined || response.hasHeader('X-RateLimit-Limit')) return prepare();
    const isRefusal = statusOf(error) < 500;
    const noted = isRefusal
      ? this.quota.noteRefusal(request, response)
      : this.quota.noteFailure(request, response);
    // The error matters more than its headers.
    return noted.then(prepare, prepare);
  }

  private async completed(
    error: ApiError,
    request: Request,
    { parameters }: RegisteredOperation,
  ): Promise<ApiError> {
    const errors = [...error.faults];
    for (const argument of validatedArguments(parameters)) {
      const isKnown = error instanceof InvalidArgument && isSame(error.argument, argument);
      if (!isKnown) errors.push(...(await this.errorsOf(argument, request)));
    }
    if (errors.length === error.faults.length) return error;
    return new ApiError(HTTP_ERRORS.validation_failed, { details: errors, headers: error.headers });
  }

  private async errorsOf(argument: ArgumentMetadata, request: Request): Promise<readonly ErrorDetail[]> {
    try {
      await this.pipe.transform(valueOf(argument, request), argument);
      return [];
    } catch (error) {
      if (error instanceof InvalidArgument) return error.faults;
      throw error;
    }
  }
}

/** The status of a thrown exception, or of an http-errors error, which Express's middlewares throw. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode } = (error ?? {}) as { readonly statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}

const VALIDATED: ReadonlyMap<RouteParamtypes | 'custom', ArgumentMetadata['type']> = new Map([
  [RouteParamtypes.PARAM, 'param'],
  [RouteParamtypes.QUERY, 'query'],
  [RouteParamtypes.BODY, 'body'],
]);

/** The arguments of a handler that only ValidationPipe validates, in the order in which errors are reported. */
function validatedArguments(parameters: readonly HandlerParameter[]): ArgumentMetadata[] {
  return parameters.flatMap(({ kind, metatype, data, pipes = [], schema }) => {
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
